/// A large value that copies share until one of them changes it: copying it costs one reference count.
public struct Shared<Value: Sendable>: Sendable {
  /// `@unchecked Sendable`: the value is changed only while there is no other reference.
  @usableFromInline final class Storage: @unchecked Sendable {
    @usableFromInline var value: Value
    @inlinable init(_ value: Value) { self.value = value }
  }

  @usableFromInline var storage: Storage

  @inlinable public init(_ value: Value) { storage = Storage(value) }

  /// A change makes a new copy for this value alone, unless it is the only one.
  ///
  /// Read by `get` and never by `_read`, also in properties that pass it on: where a coroutine that yields a large
  /// value is not inlined, Swift 6.3 releases the value's parts in the coroutine's memory after that was freed.
  @inlinable public var value: Value {
    get { storage.value }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }
}

extension Shared: Equatable where Value: Equatable {
  @inlinable public static func == (left: Self, right: Self) -> Bool {
    left.storage === right.storage || left.storage.value == right.storage.value
  }
}

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
  @inlinable public var value: Value {
    _read { yield storage.value }
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

import CCrypto

/// A digest of bytes that arrive in pieces.
///
/// It is a value: a copy continues on its own. The state is copied when a shared value changes.
public struct IncrementalHash: Sendable {
  /// The hash function that is computed.
  public let function: HashFunction
  private var state: State

  /// A hash of no bytes so far.
  public init(_ function: HashFunction) {
    self.function = function
    let algorithm = CryptoLibrary.algorithm(function)
    state = State()
    State.check(crypto_digest_start(state.context, algorithm))
  }

  /// Appends bytes.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    if !isKnownUniquelyReferenced(&state) { state = state.copy() }
    State.check(crypto_digest_update(state.context, bytes.baseAddress, bytes.count))
  }

  /// Appends bytes.
  public mutating func update(_ bytes: some Sequence<UInt8>) {
    let isDone: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
    if isDone == nil { Array(bytes).withUnsafeBytes { update($0) } }
  }

  /// The digest of all bytes so far, `function.byteCount` bytes. The value itself can be continued.
  public func finalize() -> [UInt8] {
    let last = state.copy()
    return [UInt8](unsafeUninitializedCapacity: function.byteCount) { buffer, count in
      State.check(crypto_digest_end(last.context, buffer.baseAddress))
      count = function.byteCount
    }
  }

  /// Owns one `crypto_digest`. `@unchecked Sendable`: it changes only while one value alone refers to it.
  private final class State: @unchecked Sendable {
    let context: OpaquePointer

    init() {
      guard let context = crypto_digest_new() else { fatalError("cannot compute a digest: out of memory") }
      self.context = context
    }

    func copy() -> State {
      let copy = State()
      Self.check(crypto_digest_copy(copy.context, context))
      return copy
    }

    /// The calls above fail only if the system has no memory for a few hundred bytes. Swift's own allocations stop the
    /// program then, too.
    static func check(_ code: Int32) {
      guard code == 1 else { fatalError("cannot compute a digest: out of memory") }
    }

    deinit { crypto_digest_free(context) }
  }
}

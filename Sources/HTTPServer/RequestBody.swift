import NIOCore
import NIOHTTP1

/// The body of a request: pieces as they arrive. Nothing is read from the connection that the iterator has not asked for.
/// It can be iterated once, by one task at a time.
public struct RequestBody: AsyncSequence, Sendable {
  public typealias Element = ByteBuffer

  /// Its length as the client declared it; `nil` if it comes in chunks.
  public let declaredBytes: Int?
  let source: BodySource
  let connection: Connection?

  public struct AsyncIterator: AsyncIteratorProtocol {
    let source: BodySource

    /// - Throws: `RequestError` if the body breaks HTTP, is cut off or is too slow; `CancellationError`.
    public mutating func next() async throws -> ByteBuffer? { try await source.next() }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

  /// What ``collect(upTo:)`` returns: the bytes, and their part of the server's memory.
  public struct Collected: Sendable {
    public let bytes: ByteBuffer
    /// Keep it as long as the bytes.
    public let reservation: MemoryBudget.Reservation?
  }

  /// All of the body, within the memory that bodies may use.
  /// - Parameter limit: bytes.
  /// - Throws: `RequestError`; a body that declares more than the limit is refused before it is read.
  public func collect(upTo limit: Int) async throws -> Collected {
    if let declaredBytes, declaredBytes > limit { throw RequestError.bodyTooLarge(limit: limit) }
    guard let connection else { return Collected(bytes: ByteBuffer(), reservation: nil) }
    let free = connection.limits.freeBodyBytes
    var reservation: MemoryBudget.Reservation?
    if let declaredBytes, declaredBytes > free { reservation = try await connection.reserve(declaredBytes) }
    connection.startCollecting()
    var bytes = ByteBuffer()
    var iterator = makeAsyncIterator()
    while var piece = try await iterator.next() {
      // checked: two sizes of buffers
      guard piece.readableBytes <= limit - bytes.readableBytes else { throw RequestError.bodyTooLarge(limit: limit) }
      if reservation == nil, bytes.readableBytes + piece.readableBytes > free {  // checked: at most limit
        reservation = try await connection.reserve(limit)
      }
      if bytes.capacity == 0, let declaredBytes { bytes.reserveCapacity(declaredBytes) }
      bytes.writeBuffer(&piece)
    }
    return Collected(bytes: bytes, reservation: reservation)
  }
}

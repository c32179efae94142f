import HTTPServer
import NIOCore
import Synchronization

/// The memory for responses to a client that sends its whole list before it reads any response. It grows with the
/// responses, as a part of the memory that all requests share. When that memory is used up, the client has to read
/// first.
final class ResponseMemory: Sendable {
  /// Bytes of the response that may be kept without a part of the server's memory.
  private static let freeBytes = 64 << 10
  private static let stepBytes = 1 << 20
  /// Eight steps hold the results of about 300,000 lines.
  private static let maximumSteps = 8

  private let request: Request
  private let reservations = Mutex<[MemoryBudget.Reservation]>([])

  private init(_ request: Request) { self.request = request }

  /// A queue for the pieces of a response, which takes as many as there is memory for.
  static func queue(for request: Request) -> BoundedQueue<ByteBuffer> {
    let memory = ResponseMemory(request)
    return BoundedQueue(limit: freeBytes, weight: { $0.readableBytes }) { memory.extend() }
  }

  /// - Returns: by how many bytes the response may grow; 0 if it may not grow.
  private func extend() -> Int {
    reservations.withLock { reservations in
      guard reservations.count < Self.maximumSteps, let more = request.tryReserve(Self.stepBytes) else { return 0 }
      reservations.append(more)
      return Self.stepBytes
    }
  }
}

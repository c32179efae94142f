import HTTPServer
import Synchronization

/// The memory for responses to a client that sends its whole list before it reads any response. It grows with the
/// responses, as a part of the memory that all requests share. When that memory is used up, the client has to read
/// first.
final class ResponseMemory: Sendable {
  /// Bytes of the response that may be kept without a part of the server's memory.
  static let freeBytes = 64 << 10
  private static let stepBytes = 1 << 20
  /// Eight steps hold the results of about 300,000 lines.
  private static let maximumSteps = 8

  private let request: Request
  private let reservations = Mutex<[MemoryBudget.Reservation]>([])

  init(_ request: Request) { self.request = request }

  /// - Returns: by how many bytes the response may grow; 0 if it may not grow.
  func extend() -> Int {
    reservations.withLock { reservations in
      guard reservations.count < Self.maximumSteps, let more = request.tryReserve(Self.stepBytes) else { return 0 }
      reservations.append(more)
      return Self.stepBytes
    }
  }
}

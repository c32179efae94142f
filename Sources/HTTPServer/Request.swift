import NIOCore
import NIOHTTP1

/// A request with its body still to be read.
public struct Request: Sendable {
  public let method: HTTPMethod
  public let target: RequestTarget
  public let headers: HTTPHeaders
  public let body: RequestBody
  /// The program at the other end.
  public let peer: Peer
  let connection: Connection

  /// Suspends until the request may keep so many bytes more in memory. For bodies that are not collected.
  /// - Parameter bytes: at most `ServerLimits.bodyMemoryPerUser`.
  /// - Throws: `RequestError.outOfMemory` if there was no room in time; `CancellationError`.
  public func reserve(_ bytes: Int) async throws -> MemoryBudget.Reservation { try await connection.reserve(bytes) }

  /// Whether the request may keep so many bytes more in memory: `nil` if there is no room now.
  public func tryReserve(_ bytes: Int) -> MemoryBudget.Reservation? { connection.tryReserve(bytes) }

  /// Calls the closure once, when the client has closed its half of the connection or all of it: at once if that is so
  /// already. For a response that has no end of its own.
  public func onDisconnect(_ report: @escaping @Sendable () -> Void) {
    DisconnectHandler.watch(connection.channel, onEnd: report)
  }
}

import ArgumentParser
import FoundationEssentials

/// Adds `owner=UID` to every request.
struct OwnerTransport: ControlTransport {
  let base: any ControlTransport
  let owner: UInt32

  func send(
    _ method: String, _ path: String, body: Data?, contentType: String?
  ) async throws -> (status: Int, body: Data) {
    try await base.send(method, narrowed(path), body: body, contentType: contentType)
  }

  func stream(
    _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    try await base.stream(method, narrowed(path), body: body, contentType: contentType, headers: headers)
  }

  func stream(
    _ method: String, _ path: String, pieces: @escaping @Sendable () throws -> Data?, contentType: String?,
    headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    try await base.stream(method, narrowed(path), pieces: pieces, contentType: contentType, headers: headers)
  }

  func narrowed(_ path: String) -> String { path + (path.contains("?") ? "&" : "?") + "owner=\(owner)" }
}

import FoundationEssentials
import HTTPTypes
import Synchronization

/// The body of an upload, made again for every attempt.
final class UploadSource: Sendable {
  private enum Content: Sendable {
    case made(@Sendable () throws -> RequestBody)
    case stream(UploadStream, isSpooled: Bool)
  }

  private struct State {
    var spool: SpooledFile?
    var pipe: BodyPipe?
    var pump: Task<Void, Never>?
  }

  private let content: Content
  private let state = Mutex(State())

  /// The Content-Type that belongs to the body: a form's boundary.
  private let contentType: String?

  /// - Parameter body: called for every attempt.
  init(contentType: String? = nil, _ body: @escaping @Sendable () throws -> RequestBody) {
    content = .made(body)
    self.contentType = contentType
  }

  /// - Parameter isSpooled: the stream is stored on disk first, so that it can be sent again.
  init(_ stream: UploadStream, isSpooled: Bool) {
    content = .stream(stream, isSpooled: isSpooled)
    contentType = nil
  }

  /// Sets the request's body for one attempt.
  func fill(_ request: inout TransferRequest) async throws(TransferError) {
    if let contentType { request.headers[.contentType] = contentType }
    request.body = try await body()
  }

  private func body() async throws(TransferError) -> RequestBody {
    switch content {
    case .made(let make):
      do { return try make() } catch { throw .of(.convertible, error) }
    case .stream(let stream, isSpooled: true):
      return .file(path: try await spool(stream).path)
    case .stream(let stream, isSpooled: false):
      try checkReplayable()
      return .stream(pipe(stream))
    }
  }

  private func spool(_ stream: UploadStream) async throws(TransferError) -> SpooledFile {
    if let spool = state.withLock({ $0.spool }) { return spool }
    let spool = try SpooledFile(in: SpooledFile.directory)
    do {
      try await stream.forEach { piece in
        try await BlockingIO.run { () throws(TransferError) in try spool.append(piece) }
        return true
      }
    } catch let error as TransferError {
      throw error
    } catch {
      throw Task.isCancelled ? .cancelled : .body(.streamFailed("\(error)"))
    }
    if Task.isCancelled { throw .cancelled }
    state.withLock { $0.spool = spool }
    return spool
  }

  private func pipe(_ stream: UploadStream) -> BodyPipe {
    state.withLock { state in
      if let pipe = state.pipe { return pipe }
      let pipe = BodyPipe()
      state.pipe = pipe
      state.pump = Task {
        do {
          try await stream.forEach { await pipe.write($0) }
          pipe.end()
        } catch {
          pipe.end(.body(.streamFailed("\(error)")))
        }
      }
      return pipe
    }
  }

  /// Whether the body can still be sent from its beginning.
  var isReplayable: Bool { state.withLock { $0.pipe?.taken ?? 0 } == 0 }

  func checkReplayable() throws(TransferError) {
    guard isReplayable else { throw .body(.notReplayable) }
  }

  /// A stall that the stream caused is not the network's.
  func explained(_ error: TransferError) -> TransferError {
    guard case .connection(.stalled) = error, state.withLock({ $0.pipe?.isStarved ?? false }) else { return error }
    return .body(.starved)
  }

  /// The request has ended.
  func close() {
    let state = state.withLock { state in
      defer { state = State() }
      return state
    }
    state.pipe?.close()
    state.pump?.cancel()
  }
}

import FoundationEssentials
import HTTPTypes
import Synchronization

/// What an upload sends, made anew for every attempt.
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

  /// What the request must say of the body: a form's boundary.
  private let contentType: String?

  /// - Parameter body: called for every attempt.
  init(contentType: String? = nil, _ body: @escaping @Sendable () throws -> RequestBody) {
    content = .made(body)
    self.contentType = contentType
  }

  /// A form as it is now.
  convenience init(_ form: MultipartFormData) {
    let body = Result { () throws(TransferError) in try form.requestBody() }
    self.init(contentType: form.contentType) { try body.get() }
  }

  /// - Parameter isSpooled: kept on the disk before it is sent, so that it can be sent again.
  init(_ stream: UploadStream, isSpooled: Bool) {
    content = .stream(stream, isSpooled: isSpooled)
    contentType = nil
  }

  /// Gives a request the body for one attempt.
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

  /// Whether the body can be sent, though perhaps some of it was before.
  var isReplayable: Bool { state.withLock { $0.pipe?.taken ?? 0 } == 0 }

  func checkReplayable() throws(TransferError) {
    guard isReplayable else { throw .body(.notReplayable) }
  }

  /// Who is slow is not the network where the stream brings nothing.
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

/// An asynchronous sequence of pieces, whatever its type.
struct UploadStream: Sendable {
  /// Until the sequence ends or `take` answers false.
  let forEach: @Sendable (_ take: @Sendable (Data) async throws -> Bool) async throws -> Void

  init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
    forEach = { take in
      for try await piece in pieces {
        guard try await take(piece) else { return }
      }
    }
  }
}

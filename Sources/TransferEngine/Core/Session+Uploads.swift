public import FoundationEssentials
import HTTPTypes

/// Uploads. A redirect that would drop the body fails the upload (`Redirector.modify` may allow it); 307 and 308 send
/// the body again. Bodies above 1 MiB wait up to 1 s for the server's `100 Continue`, so that a refusal does not cost
/// the body.
extension Session {
  /// Sends bytes from memory.
  public func upload(
    _ data: Data, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(UploadSource { .data(data) }, source(convertible, method, headers, requestModifier), interceptor)
  }

  /// Sends bytes as the body of a request that describes itself.
  public func upload(
    _ data: Data, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    upload(UploadSource { .data(data) }, RequestSource(convertible), interceptor)
  }

  /// Sends a file. It is opened for every attempt and must not change while it is sent.
  public func upload(
    _ fileURL: URL, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(Self.file(fileURL), source(convertible, method, headers, requestModifier), interceptor)
  }

  /// Sends a file as the body of a request that describes itself.
  public func upload(
    _ fileURL: URL, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    upload(Self.file(fileURL), RequestSource(convertible), interceptor)
  }

  /// Sends the pieces of an asynchronous sequence, in order. The sequence is iterated once.
  public func upload<Pieces: AsyncSequence & Sendable>(
    _ stream: Pieces, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
    replay: StreamReplay = .automatic
  ) -> UploadRequest where Pieces.Element == Data {
    upload(
      self.stream(stream, replay, interceptor), source(convertible, method, headers, requestModifier), interceptor)
  }

  /// Sends a stream as the body of a request that describes itself.
  public func upload<Pieces: AsyncSequence & Sendable>(
    _ stream: Pieces, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    replay: StreamReplay = .automatic
  ) -> UploadRequest where Pieces.Element == Data {
    upload(self.stream(stream, replay, interceptor), RequestSource(convertible), interceptor)
  }

  func upload(
    _ upload: UploadSource, _ source: RequestSource, _ interceptor: (any RequestInterceptor)?
  ) -> UploadRequest {
    UploadRequest(
      core: RequestCore(session: self) { core in
        await DataPipeline(session: self, core: core, source: source, interceptor: interceptor, upload: upload).run()
      })
  }

  private static func file(_ url: URL) -> UploadSource {
    UploadSource {
      guard url.isFileURL else { throw TransferError.invalidURL(url.absoluteString, reason: "it is not a file URL") }
      return .file(path: url.path)
    }
  }

  private func stream<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, _ replay: StreamReplay, _ interceptor: (any RequestInterceptor)?
  ) -> UploadSource where Pieces.Element == Data {
    let isSpooled =
      switch replay {
      case .automatic: interceptor != nil || self.interceptor != nil
      case .spooled: true
      case .once: false
      }
    return UploadSource(UploadStream(pieces), isSpooled: isSpooled)
  }
}

public import FoundationEssentials
import HTTPTypes

/// Whether a stream that is uploaded is kept so that it can be sent again.
public enum StreamReplay: Sendable {
  /// Kept where the request or the session has an interceptor, which may want to try again.
  case automatic
  /// Written to a nameless file in TMPDIR (else /var/tmp) before it is sent, then sent with its length.
  case spooled
  /// Sent as it comes, in chunks; a retry or a redirect that needs it again fails the request.
  case once
}

/// Uploads. A redirect that would drop the body fails them (`Redirector.modify` may allow it); 307 and 308 send it again.
/// Bodies above 1 MiB wait up to 1 s for the server to ask for them, so that a refusal costs no body.
extension Session {
  /// Sends bytes that are in memory.
  public func upload(
    _ data: Data, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(UploadSource { .data(data) }, source(convertible, method, headers, requestModifier), interceptor)
  }

  /// Sends bytes as the body of a request that says itself what it is.
  public func upload(
    _ data: Data, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    upload(UploadSource { .data(data) }, RequestSource(convertible), interceptor)
  }

  /// The file is opened for every attempt; it must not change while it is sent.
  public func upload(
    _ fileURL: URL, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(Self.file(fileURL), source(convertible, method, headers, requestModifier), interceptor)
  }

  /// Sends a file as the body of a request that says itself what it is.
  public func upload(
    _ fileURL: URL, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    upload(Self.file(fileURL), RequestSource(convertible), interceptor)
  }

  /// The pieces of an asynchronous sequence, in order. The sequence is iterated once.
  public func upload<Pieces: AsyncSequence & Sendable>(
    _ stream: Pieces, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil,
    replay: StreamReplay = .automatic
  ) -> UploadRequest where Pieces.Element == Data {
    upload(
      self.stream(stream, replay, interceptor), source(convertible, method, headers, requestModifier), interceptor)
  }

  /// Sends a stream as the body of a request that says itself what it is.
  public func upload<Pieces: AsyncSequence & Sendable>(
    _ stream: Pieces, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
    replay: StreamReplay = .automatic
  ) -> UploadRequest where Pieces.Element == Data {
    upload(self.stream(stream, replay, interceptor), RequestSource(convertible), interceptor)
  }

  /// A form of any size, sent in constant memory. The closure is called now, and what it appends is looked at, not read;
  /// what cannot be appended fails the request.
  public func upload(
    multipartFormData: (MultipartFormData) -> Void, to convertible: any URLConvertible, method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    let form = MultipartFormData()
    multipartFormData(form)
    return upload(
      multipartFormData: form, to: convertible, method: method, headers: headers, interceptor: interceptor,
      requestModifier: requestModifier)
  }

  /// A form as the body of a request that says itself what it is.
  public func upload(
    multipartFormData: (MultipartFormData) -> Void, with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    let form = MultipartFormData()
    multipartFormData(form)
    return upload(multipartFormData: form, with: convertible, interceptor: interceptor)
  }

  /// A form as it is now; what is appended later is not sent. Every attempt has the same boundary.
  public func upload(
    multipartFormData: MultipartFormData, to convertible: any URLConvertible, method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> UploadRequest {
    upload(UploadSource(multipartFormData), source(convertible, method, headers, requestModifier), interceptor)
  }

  /// A form as it is now, as the body of a request that says itself what it is.
  public func upload(
    multipartFormData: MultipartFormData, with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil
  ) -> UploadRequest {
    upload(UploadSource(multipartFormData), RequestSource(convertible), interceptor)
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
      guard url.isFileURL else { throw TransferError.invalidURL(url.absoluteString, reason: "it is no file's") }
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

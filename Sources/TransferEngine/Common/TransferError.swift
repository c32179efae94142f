import Glibc

/// Every failure of a request. libcurl's codes and `errno` are translated into cases; errors of hooks are wrapped.
/// `isTransient` is whether a retry may succeed; `description` is for people.
public enum TransferError: Error, Sendable {
  /// The text is not a usable URL, with the reason. The text is shown without userinfo and query.
  case invalidURL(String, reason: String)
  /// The scheme is not supported, or the session does not allow it.
  case unsupportedScheme(String)
  /// `cancel()` was called, or the awaiting task was cancelled.
  case cancelled
  /// The connection could not be made, or failed.
  case connection(ConnectionFailure)
  /// The response is not acceptable.
  case response(ResponseFailure)
  /// A redirect could not be followed.
  case redirect(RedirectFailure)
  /// The destination, its directory or the disk failed.
  case file(FileFailure)
  /// The complete file is not the expected one.
  case verification(VerificationFailure)
  /// The file to send failed.
  case source(SourceFailure)
  /// The upload failed at the server.
  case upload(UploadFailure)
  /// The request's parameters could not be encoded; nothing was sent.
  case parameters(ParameterFailure)
  /// The form could not be encoded; nothing was sent.
  case multipart(MultipartFailure)
  /// The response could not be serialized.
  case serialization(SerializationFailure)
  /// The server's identity could not be verified.
  case serverTrust(ServerTrustFailure)
  /// A file server (FTP, SFTP, SCP) or the disk behind a `file:` URL refused.
  case remote(RemoteFailure)
  /// The body that is sent, or the stream that is read, failed.
  case body(BodyFailure)
  /// The resume data is invalid, or of a newer version.
  case invalidResumeData
  /// The user's code (an adapter, a retrier, a validation, a journal, …) threw.
  case hook(Hook, any Error)
  /// Another failure of libcurl.
  case transport(code: Int, message: String, isTransient: Bool)

  /// Why there is no connection.
  public enum ConnectionFailure: Sendable, Equatable {
    /// The host is unknown, or the name server did not respond; libcurl cannot tell which.
    case nameNotResolved(host: String)
    /// The host refused the connection, or no route leads to it.
    case refused(host: String, reason: String)
    /// The TLS handshake failed for another reason than the certificate; transient if it was interrupted.
    case tls(host: String, reason: String, isTransient: Bool)
    /// The connection through a proxy failed.
    case proxy(ProxyFailure)
    /// The host has no address that this request may connect to; see `TransferRequest.requiresPublicAddress`.
    case addressRefused(host: String, reason: String)
    /// The network interface that the request must use does not exist, or has no address.
    case interfaceMissing(String)
    /// No connection was made within the connect timeout.
    case timedOut(host: String)
    /// Connected, but without progress for the stall timeout.
    case stalled
    /// The connection broke during the transfer.
    case broken(String)
  }

  /// Why a response is not acceptable.
  public enum ResponseFailure: Sendable, Equatable {
    /// The status is not 2xx, or a validation does not accept it; with the delay of `Retry-After`.
    case unacceptableStatus(Int, retryAfter: Duration?)
    /// No validation accepts the content type; `nil` if there is none.
    case unacceptableContentType(String?, acceptable: [String])
    /// Fewer bytes arrived than the response announced.
    case truncated(received: Int64, expected: Int64?)
    /// Content-Length is not a number, or has two values (RFC 9110 §8.6).
    case invalidContentLength(String)
    /// The head is longer than this many bytes.
    case headTooLarge(limit: Int)
    /// The body is longer than this many bytes; see `SessionConfiguration.maximumBodyBytes`.
    case bodyTooLarge(limit: Int)
    /// A 206 response to a request for the whole file: a broken cache. The next attempt bypasses caches.
    case unrequestedPartialContent
    /// The coded body is damaged or incomplete, or the coding is unknown.
    case undecodable(String)
    /// The response is not valid HTTP.
    case malformed(String)
  }

  /// Why a redirect was not followed.
  public enum RedirectFailure: Sendable, Equatable {
    /// More consecutive redirects than this.
    case tooMany(limit: Int)
    /// It leads from https to http, or the request's policy forbids it.
    case refused(to: String, reason: String)
    /// The response has a redirect's status but no Location.
    case missingLocation(status: Int)
    /// It leads to a scheme other than http and https.
    case unsupportedScheme(String)
    /// The upload would become a GET without its body.
    case dropsBody(status: Int, to: String)
  }

  /// What the disk or the destination refused.
  public enum FileFailure: Sendable, Equatable {
    /// The destination exists, and may not be replaced.
    case destinationExists(String)
    /// The directory does not exist, and may not be created.
    case directoryMissing(String)
    /// The file is larger than its request allows (`FileAttributes.maximumBytes`).
    case tooLarge(limit: Int64)
    /// The name cannot be used for a file.
    case invalidName(String, reason: String)
    /// No space or no quota is left (`ENOSPC`, `EDQUOT`).
    case diskFull(String)
    /// Access is denied (`EACCES`, `EPERM`).
    case permission(String)
    /// The failed operation and the system's error. Also `EROFS`: a file system becomes read-only when its disk fails, and
    /// writable again when that is repaired.
    case io(String, errno: Int32)

    /// Maps an `errno` to the cases that callers distinguish.
    static func system(_ what: String, errno code: Int32) -> FileFailure {
      let text = "\(what): \(String(cString: strerror(code)))"
      switch code {
      case ENOSPC, EDQUOT: return .diskFull(text)
      case EACCES, EPERM: return .permission(text)
      default: return .io(text, errno: code)
      }
    }
  }

  /// How a complete file differs from the expected one.
  public enum VerificationFailure: Sendable, Equatable {
    /// Its digest is another one; both in hexadecimal.
    case digest(algorithm: String, expected: String, actual: String)
    /// Its length is another one; both in bytes.
    case length(expected: Int64, actual: Int64)
  }

  /// The user's code that a request calls.
  public enum Hook: String, Sendable {
    /// A `RequestAdapter`.
    case adapter
    /// A `RequestRetrier`.
    case retrier
    /// A closure that was given to `validate`.
    case validation
    /// A `DownloadJournal`.
    case journal
    /// A handler of a stream.
    case streamHandler = "stream handler"
    /// The value that describes the request, or its modifier.
    case convertible = "request's description"
  }
}

extension TransferError {
  /// The error of a hook. If a hook throws `.cancelled`, that is a failure of the hook: this request was not cancelled.
  static func of(_ hook: Hook, _ error: any Error) -> TransferError {
    switch error as? TransferError {
    case .cancelled?, nil: .hook(hook, error)
    case let error?: error
    }
  }

  /// Whether the request was cancelled: by `cancel()`, or by the cancellation of the awaiting task.
  package var isCancellation: Bool { if case .cancelled = self { true } else { false } }

  /// Whether the same request may succeed later without any change.
  public var isTransient: Bool {
    switch self {
    case .invalidURL, .unsupportedScheme, .cancelled, .redirect, .verification, .serverTrust, .invalidResumeData: false
    case .source(let failure): failure.isTransient
    case .upload(let failure): failure.isTransient
    case .body(.starved): true
    case .body: false
    case .parameters, .multipart, .serialization: false
    case .connection(.tls(_, _, let isTransient)): isTransient
    case .connection(.proxy(let failure)): failure.isTransient
    case .connection(.addressRefused): false
    case .connection: true
    case .response(let failure): failure.isTransient
    case .remote(let failure): failure.isTransient
    case .file(.diskFull), .file(.io): true
    case .file: false
    case .hook(.journal, _): true
    case .hook: false
    case .transport(_, _, let isTransient): isTransient
    }
  }

  /// Whether no connection was made, so that no request was sent.
  public var isConnectionFailure: Bool {
    switch self {
    case .connection(.nameNotResolved), .connection(.refused), .connection(.timedOut): true
    case .connection(.proxy(.nameNotResolved)), .connection(.proxy(.unreachable)): true
    default: false
    }
  }

  /// The response's status, if the failure concerns it.
  public var status: Int? {
    switch self {
    case .response(.unacceptableStatus(let status, _)): status
    case .upload(.refused(_, _, let status, _, _)): status
    default: nil
    }
  }

  /// The delay that the server asked for.
  public var retryAfter: Duration? {
    switch self {
    case .response(.unacceptableStatus(_, let delay)): delay
    case .upload(.refused(_, _, _, let delay, _)): delay
    default: nil
    }
  }
}

extension TransferError.ResponseFailure {
  var isTransient: Bool {
    switch self {
    case .unacceptableStatus(let status, _): TransientStatus.all.contains(status)
    case .truncated, .unrequestedPartialContent, .undecodable: true
    case .invalidContentLength, .headTooLarge, .bodyTooLarge, .malformed, .unacceptableContentType: false
    }
  }
}

extension TransferError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidURL(let url, let reason): "cannot use the URL \"\(url)\": \(reason)"
    case .unsupportedScheme("file"): "file: URLs are not allowed; allowsFileURLs in the configuration allows them"
    case .unsupportedScheme(let scheme):
      "the scheme \"\(scheme)\" is not supported; use http, https, ftp, ftps, ftpes, sftp or scp"
    case .cancelled: "cancelled"
    case .connection(let failure): failure.description
    case .response(let failure): failure.description
    case .redirect(let failure): failure.description
    case .file(let failure): failure.description
    case .verification(let failure): failure.description
    case .source(let failure): failure.description
    case .upload(let failure): failure.description
    case .parameters(let failure): failure.description
    case .multipart(let failure): failure.description
    case .serialization(let failure): failure.description
    case .serverTrust(let failure): failure.description
    case .remote(let failure): failure.description
    case .body(let failure): failure.description
    case .invalidResumeData: "cannot read the resume data: it is invalid or has another version"
    case .hook(let hook, let error): "the \(hook.rawValue) failed: \(error)"
    case .transport(_, let message, _): message
    }
  }
}

extension TransferError.ConnectionFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .nameNotResolved(let host): "cannot find the host \(host)"
    case .refused(let host, let reason): "cannot connect to \(host): \(reason)"
    case .tls(let host, let reason, _): "cannot talk TLS with \(host): \(reason)"
    case .proxy(let failure): failure.description
    case .addressRefused(let host, let reason):
      "cannot connect to \(host): \(reason), and only public ones are permitted"
    case .interfaceMissing(let name): "cannot use the network interface \(name): it does not exist or has no address"
    case .timedOut(let host): "cannot connect to \(host): no response in time"
    case .stalled: "the transfer stalled: no progress within the stall timeout"
    case .broken(let reason): "the connection broke: \(reason)"
    }
  }
}

extension TransferError.ResponseFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unacceptableStatus(let status, let retryAfter):
      "the server answered \(status)\(StatusText.phrase(status))"
        + (retryAfter.map { "; it asks to wait \($0.components.seconds) s" } ?? "")
    case .unacceptableContentType(let type, let acceptable):
      "the response is \(type.map { "of the type \($0)" } ?? "of no declared type"); accepted are "
        + acceptable.joined(separator: ", ")
    case .truncated(let received, let expected):
      "the response ended early: \(received) bytes" + (expected.map { " of \($0)" } ?? "") + " arrived"
    case .invalidContentLength(let value): "the server sent an unusable Content-Length (\(value))"
    case .headTooLarge(let limit): "the response's head is larger than \(limit) bytes"
    case .bodyTooLarge(let limit): "the response's body is larger than \(limit) bytes"
    case .unrequestedPartialContent: "the server sent a part of the file (206) though all of it was asked for"
    case .undecodable(let reason): "the response's content coding cannot be undone: \(reason)"
    case .malformed(let reason): "the server's response breaks the protocol: \(reason)"
    }
  }
}

extension TransferError.RedirectFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooMany(let limit): "more than \(limit) redirects"
    case .refused(let target, let reason): "the redirect to \(target) is refused: \(reason)"
    case .unsupportedScheme(let scheme): "the redirect to \(scheme):… is refused: only http and https are followed"
    case .missingLocation(let status): "the server answered \(status) without saying where to go"
    case .dropsBody(let status, let target):
      "the redirect (\(status)) to \(target) would drop the body that is sent; only 307 and 308 are followed with it"
    }
  }
}

extension TransferError.FileFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .destinationExists(let path): "\(path) exists; it is only replaced when asked for"
    case .directoryMissing(let path): "the directory \(path) does not exist"
    case .tooLarge(let limit): "the file is larger than \(limit) bytes, the most that is allowed"
    case .invalidName(let name, let reason): "cannot use the file name \"\(name)\": \(reason)"
    case .diskFull(let text), .permission(let text), .io(let text, _): text
    }
  }
}

extension TransferError.VerificationFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .digest(let algorithm, let expected, let actual):
      "the file's \(algorithm) is \(actual), expected \(expected)"
    case .length(let expected, let actual): "the file has \(actual) bytes, expected \(expected)"
    }
  }
}

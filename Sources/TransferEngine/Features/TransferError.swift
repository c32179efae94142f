import Glibc

/// Everything that can go wrong with a request. Nothing foreign leaks out: libcurl's codes, `errno` and hooks' errors
/// are translated. `isTransient` says whether the same try may succeed later; `description` is for people.
public enum TransferError: Error, Sendable {
  case invalidURL(String, reason: String)
  case unsupportedScheme(String)
  /// `cancel()` was called, or the awaiting task was cancelled.
  case cancelled
  case connection(ConnectionFailure)
  case response(ResponseFailure)
  case redirect(RedirectFailure)
  case file(FileFailure)
  case verification(VerificationFailure)
  /// The file that is to be sent.
  case source(SourceFailure)
  /// What an upload's server did or did not do.
  case upload(UploadFailure)
  /// The request's parameters could not be encoded; nothing was sent.
  case parameters(ParameterFailure)
  /// The form could not be put together; nothing was sent.
  case multipart(MultipartFailure)
  /// The answer came, but cannot be read as what was asked for.
  case serialization(SerializationFailure)
  case serverTrust(ServerTrustFailure)
  /// A server of files (FTP, SFTP, SCP) refused, or the disk behind a `file:` URL did.
  case remote(RemoteFailure)
  /// The body that is sent, or the stream that is read.
  case body(BodyFailure)
  /// The bytes that were given as resume data are none, or of another version.
  case invalidResumeData
  /// A hook (adapter, retrier, validation, journal) threw.
  case hook(Hook, any Error)
  /// libcurl failed in a way that has no name of its own here.
  case transport(code: Int, message: String, isTransient: Bool)

  public enum ConnectionFailure: Sendable, Equatable {
    case nameNotResolved(host: String)
    case refused(host: String, reason: String)
    case tls(host: String, reason: String, isTransient: Bool)
    case proxy(ProxyFailure)
    /// No connection within the connect timeout.
    case timedOut(host: String)
    /// Connected, but no progress for the stall timeout.
    case stalled
    /// Broken in mid-transfer.
    case broken(String)
  }

  public enum ResponseFailure: Sendable, Equatable {
    case unacceptableStatus(Int, retryAfter: Duration?)
    /// The content type is none of those that a validation accepts; `nil`: there is none.
    case unacceptableContentType(String?, acceptable: [String])
    /// Fewer bytes than the response said.
    case truncated(received: Int64, expected: Int64?)
    case invalidContentLength(String)
    case headTooLarge(limit: Int)
    case bodyTooLarge(limit: Int)
    /// A 206 that nobody asked for: a broken cache. The next try goes past caches.
    case unrequestedPartialContent
    case undecodable(String)
    case malformed(String)
  }

  public enum RedirectFailure: Sendable, Equatable {
    case tooMany(limit: Int)
    case refused(to: String, reason: String)
    case missingLocation(status: Int)
    /// To something else than http and https.
    case unsupportedScheme(String)
    /// Followed as the status says, the upload would become a GET without its body.
    case dropsBody(status: Int, to: String)
  }

  public enum FileFailure: Sendable, Equatable {
    case destinationExists(String)
    case directoryMissing(String)
    case invalidName(String, reason: String)
    case diskFull(String)
    case permission(String)
    /// What could not be done, and the system's reason.
    case io(String, errno: Int32)

    /// Sorts an `errno` into the cases that callers tell apart.
    static func system(_ what: String, errno code: Int32) -> FileFailure {
      let text = "\(what): \(String(cString: strerror(code)))"
      switch code {
      case ENOSPC, EDQUOT: return .diskFull(text)
      case EACCES, EPERM, EROFS: return .permission(text)
      default: return .io(text, errno: code)
      }
    }
  }

  public enum VerificationFailure: Sendable, Equatable {
    case digest(algorithm: String, expected: String, actual: String)
    case length(expected: Int64, actual: Int64)
  }

  public enum Hook: String, Sendable {
    case adapter, retrier, validation, journal
    /// What describes the request, and its modifier.
    case convertible = "request's description"
  }
}

extension TransferError {
  /// What a hook threw. Its own `.cancelled` is a failure of the hook: this request was not cancelled.
  static func of(_ hook: Hook, _ error: any Error) -> TransferError {
    switch error as? TransferError {
    case .cancelled?, nil: .hook(hook, error)
    case let error?: error
    }
  }

  /// Whether the same request may succeed later, without anybody's doing.
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

  /// Nobody answered: the request was not sent.
  public var isConnectionFailure: Bool {
    switch self {
    case .connection(.nameNotResolved), .connection(.refused), .connection(.timedOut): true
    case .connection(.proxy(.nameNotResolved)), .connection(.proxy(.unreachable)): true
    default: false
    }
  }

  /// The response's status, where the failure is about it.
  public var status: Int? {
    switch self {
    case .response(.unacceptableStatus(let status, _)): status
    case .upload(.refused(_, _, let status, _, _)): status
    default: nil
    }
  }

  /// How long the server asked to be left alone.
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
    case .unacceptableStatus(let status, _): RetryPolicy.isTransient(status: status)
    case .truncated, .unrequestedPartialContent, .undecodable: true
    case .invalidContentLength, .headTooLarge, .bodyTooLarge, .malformed, .unacceptableContentType: false
    }
  }
}

extension TransferError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalidURL(let url, let reason): "cannot use the URL \"\(url)\": \(reason)"
    case .unsupportedScheme("file"): "file: URLs are not read, unless the session allows it (allowsFileURLs)"
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
    case .invalidResumeData: "cannot read the resume data: it is none, or of another version"
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
    case .timedOut(let host): "cannot connect to \(host): no answer in time"
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
      "the answer is \(type.map { "of the type \($0)" } ?? "of no declared type"); accepted are "
        + acceptable.joined(separator: ", ")
    case .truncated(let received, let expected):
      "the answer ended early: \(received) bytes" + (expected.map { " of \($0)" } ?? "") + " arrived"
    case .invalidContentLength(let value): "the server sent an unusable Content-Length (\(value))"
    case .headTooLarge(let limit): "the response's head is larger than \(limit) bytes"
    case .bodyTooLarge(let limit): "the response's body is larger than \(limit) bytes"
    case .unrequestedPartialContent: "the server sent a part of the file (206) though all of it was asked for"
    case .undecodable(let reason): "the response's content coding cannot be undone: \(reason)"
    case .malformed(let reason): "the server's answer breaks the protocol: \(reason)"
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

/// Reason phrases for the statuses people meet (RFC 9110 §15); HTTP/2 sends none.
enum StatusText {
  static func phrase(_ status: Int) -> String {
    let phrases = [
      204: "No Content", 300: "Multiple Choices", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized",
      403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 407: "Proxy Authentication Required",
      408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
      416: "Range Not Satisfiable", 423: "Locked", 425: "Too Early", 429: "Too Many Requests",
      451: "Unavailable For Legal Reasons", 500: "Internal Server Error", 502: "Bad Gateway",
      503: "Service Unavailable", 504: "Gateway Timeout", 507: "Insufficient Storage",
    ]
    return phrases[status].map { " (\($0))" } ?? ""
  }
}

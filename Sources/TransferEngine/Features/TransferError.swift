import Glibc

/// Everything that can go wrong with a request. Nothing foreign leaks out: libcurl's codes, `errno` and hooks' errors
/// are translated. `isTransient` says whether the same try may succeed later; `description` is for people.
public enum TransferError: Error, Sendable {
  /// The text is not a URL that can be used; the reason says why. The text is shown without userinfo and query.
  case invalidURL(String, reason: String)
  /// A URL of a scheme that is not spoken here, or that the session does not allow.
  case unsupportedScheme(String)
  /// `cancel()` was called, or the awaiting task was cancelled.
  case cancelled
  /// There was no connection, or it broke.
  case connection(ConnectionFailure)
  /// The answer came, and is not what it should be.
  case response(ResponseFailure)
  /// A redirect could not be followed.
  case redirect(RedirectFailure)
  /// The destination, its directory or the disk.
  case file(FileFailure)
  /// The whole file came, and is not what was expected.
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
  /// The server could not prove who it is.
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

  /// Why there was no connection, or no longer one.
  public enum ConnectionFailure: Sendable, Equatable {
    /// The name server knows no such host, or did not answer; libcurl cannot tell which.
    case nameNotResolved(host: String)
    /// Nobody listens there, or no route leads there.
    case refused(host: String, reason: String)
    /// The TLS handshake failed for another reason than the certificate; transient where it was cut off.
    case tls(host: String, reason: String, isTransient: Bool)
    /// The way through a proxy failed.
    case proxy(ProxyFailure)
    /// The host has no address that this request may connect to; see `TransferRequest.requiresPublicAddress`.
    case addressRefused(host: String, reason: String)
    /// No connection within the connect timeout.
    case timedOut(host: String)
    /// Connected, but no progress for the stall timeout.
    case stalled
    /// Broken in mid-transfer.
    case broken(String)
  }

  /// Why an answer is not taken.
  public enum ResponseFailure: Sendable, Equatable {
    /// A status that is no success, or that a validation does not accept, with what `Retry-After` asked for.
    case unacceptableStatus(Int, retryAfter: Duration?)
    /// The content type is none of those that a validation accepts; `nil`: there is none.
    case unacceptableContentType(String?, acceptable: [String])
    /// Fewer bytes than the response said.
    case truncated(received: Int64, expected: Int64?)
    /// Content-Length is no number, or two numbers (RFC 9110 §8.6).
    case invalidContentLength(String)
    /// The head is longer than this many bytes.
    case headTooLarge(limit: Int)
    /// The body is longer than this many bytes; see `SessionConfiguration.maximumBodyBytes`.
    case bodyTooLarge(limit: Int)
    /// A 206 that nobody asked for: a broken cache. The next try goes past caches.
    case unrequestedPartialContent
    /// The content coding's end or checksum is wrong, or it is not known here.
    case undecodable(String)
    /// The answer is no HTTP.
    case malformed(String)
  }

  /// Why a redirect was not followed.
  public enum RedirectFailure: Sendable, Equatable {
    /// More redirects than this, one after the other.
    case tooMany(limit: Int)
    /// It leads from https to http, or to another protocol.
    case refused(to: String, reason: String)
    /// The status says that there is another place, and the answer not which.
    case missingLocation(status: Int)
    /// To something else than http and https.
    case unsupportedScheme(String)
    /// Followed as the status says, the upload would become a GET without its body.
    case dropsBody(status: Int, to: String)
  }

  /// What the disk, or the place where a file was to be, refused.
  public enum FileFailure: Sendable, Equatable {
    /// There is a file of that name, and it was not to be replaced.
    case destinationExists(String)
    /// The directory does not exist, and was not to be made.
    case directoryMissing(String)
    /// The name cannot be a file's.
    case invalidName(String, reason: String)
    /// No room, or no quota (`ENOSPC`, `EDQUOT`).
    case diskFull(String)
    /// Not allowed (`EACCES`, `EPERM`, `EROFS`).
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

  /// How a finished file differs from what was expected.
  public enum VerificationFailure: Sendable, Equatable {
    /// Its digest is another one; both in hexadecimal digits.
    case digest(algorithm: String, expected: String, actual: String)
    /// Its length is another one, in bytes.
    case length(expected: Int64, actual: Int64)
  }

  /// What a program of one's own hooks into a request.
  public enum Hook: String, Sendable {
    /// A `RequestAdapter`.
    case adapter
    /// A `RequestRetrier`.
    case retrier
    /// A closure given to `validate`.
    case validation
    /// A `DownloadJournal`.
    case journal
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
    case .addressRefused(let host, let reason):
      "cannot connect to \(host): \(reason), and only public ones are permitted"
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

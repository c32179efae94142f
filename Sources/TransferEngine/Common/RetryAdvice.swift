/// Whether a failed request may succeed on a retry, and why.
public struct RetryAdvice: Sendable, Equatable, CustomStringConvertible {
  /// Whether the same request may succeed later without any change.
  public let isWorthRetrying: Bool
  /// The reason, for people; a clause without a full stop.
  public let reason: String

  public var description: String { "\(isWorthRetrying ? "worth retrying" : "not worth retrying"): \(reason)" }
}

extension TransferError {
  /// `isTransient` with its reason. A retry policy may still refuse: because of the method, or after too many attempts.
  public var retryAdvice: RetryAdvice { RetryAdvice(isWorthRetrying: isTransient, reason: retryReason) }

  private var retryReason: String {
    switch self {
    case .invalidURL, .unsupportedScheme: "the URL does not change"
    case .cancelled: "it was cancelled"
    case .connection(let failure): failure.retryReason
    case .response(let failure): failure.retryReason
    case .redirect: "the server would redirect to the same place again"
    case .file(let failure): failure.retryReason
    case .verification: "the server would most likely send the same bytes again"
    case .serverTrust: "certificates, pins and trust settings do not change by themselves"
    case .source(let failure):
      failure.isTransient ? "the file may stop changing" : "the file that is sent has to be corrected first"
    case .upload(let failure): failure.retryReason
    case .remote(let failure): failure.retryReason
    case .parameters, .multipart: "nothing was sent; the same input would fail in the same way"
    case .serialization: "the response would most likely be the same again"
    case .hook(.journal, _): "the journal that stores the progress may work again"
    case .hook: "the program's own hook failed"
    case .body(let failure): failure.retryReason
    case .invalidResumeData: "the resume data does not change; start without it"
    case .transport: isTransient ? "the failure may be temporary" : "libcurl would fail in the same way again"
    }
  }
}

extension TransferError.ConnectionFailure {
  fileprivate var retryReason: String {
    switch self {
    case .nameNotResolved: "the name may be found when the network or the name server is back"
    case .refused: "the server may be back later"
    case .tls(_, _, true): "the network may have interrupted the handshake"
    case .tls: "certificates, keys and TLS settings do not change by themselves"
    case .proxy(let failure):
      failure.isTransient ? "the proxy may be available again later" : "the proxy would refuse again"
    case .addressRefused: "the rules for addresses do not change by themselves"
    case .interfaceMissing: "the interface may come back"
    case .timedOut: "the server or the network may be overloaded"
    case .stalled: "the server or the network may be overloaded"
    case .broken: "a new connection may last"
    }
  }
}

extension TransferError.ResponseFailure {
  fileprivate var retryReason: String {
    switch self {
    case .unacceptableStatus(_, .some): "the server said when to come back"
    case .unacceptableStatus where isTransient: "the status is a temporary one"
    case .unacceptableStatus: "the server understood and refused"
    case .truncated: "the rest may come over a new connection"
    case .unrequestedPartialContent: "a cache is broken; the next attempt bypasses it"
    case .undecodable: "the bytes may have been damaged in transit"
    case .invalidContentLength, .malformed: "the server breaks the protocol and would do so again"
    case .headTooLarge, .bodyTooLarge: "the response would be as large again"
    case .unacceptableContentType: "the response would be the same again"
    }
  }
}

extension TransferError.FileFailure {
  fileprivate var retryReason: String {
    switch self {
    case .diskFull: "there may be space later"
    case .io: "the disk, or the file system behind it, may recover"
    case .tooLarge: "the file would be as large again"
    case .destinationExists, .directoryMissing, .invalidName:
      "choose another name, or remove the file with this name"
    case .permission: "the permissions have to be changed first"
    }
  }
}

extension TransferError.RemoteFailure {
  fileprivate var retryReason: String {
    switch self {
    case .busy: "the server's refusal is a temporary one"
    case .storageFull: "the server may have space later"
    case .sizeDiffers: "the next attempt asks for the current size"
    case .cannotResume: "the next attempt transfers the whole file"
    case .missing, .isDirectory, .exists: "the name has to be corrected first"
    case .accessDenied, .loginDenied: "the permissions, or the user and the password, have to be corrected first"
    case .hostKeyUnknown, .hostKeyChanged, .hostKeyRefused:
      "the host's key has to be confirmed first"
    case .refused(_, _, true): "the refusal may be temporary"
    case .refused, .unsupported: "the server understood and refused"
    }
  }
}

extension TransferError.UploadFailure {
  fileprivate var retryReason: String {
    switch self {
    case .outcomeUnknown: "the server may have stored it: sending it again could store it twice"
    case .answeredEarly: "the next attempt asks first what the server has"
    case .gone: "the next attempt starts a new upload"
    case .stuck: "the server may take the bytes later"
    case .lengthDiffers: "the server has other bytes than the file"
    case .refused(_, _, _, _, true): "the server says that the failure is temporary"
    case .refused, .unsupported: "the server understood and refused"
    case .credentials: "the credentials have to be corrected first"
    }
  }
}

extension TransferError.BodyFailure {
  fileprivate var retryReason: String {
    switch self {
    case .answeredEarly: "it is unknown what the server stored"
    case .starved: "the stream may be faster the next time"
    case .notReplayable, .streamFailed: "a stream can be read only once"
    case .alreadyRead: "the stream already has a reader"
    }
  }
}

/// Whether a failed request is worth another try, and why.
public struct RetryAdvice: Sendable, Equatable, CustomStringConvertible {
  /// The same request may succeed later, without anybody's doing.
  public let isWorthRetrying: Bool
  /// For people; half a sentence.
  public let reason: String

  public var description: String { "\(isWorthRetrying ? "worth retrying" : "not worth retrying"): \(reason)" }
}

extension TransferError {
  /// What `isTransient` says, with its reason. A retry policy may still say no: for the method's sake, or for want of tries.
  public var retryAdvice: RetryAdvice { RetryAdvice(isWorthRetrying: isTransient, reason: retryReason) }

  private var retryReason: String {
    switch self {
    case .invalidURL, .unsupportedScheme: "the URL stays what it is"
    case .cancelled: "it was ended on purpose"
    case .connection(let failure): failure.retryReason
    case .response(let failure): failure.retryReason
    case .redirect: "the server would lead to the same place again"
    case .file(let failure): failure.retryReason
    case .verification: "the server would most likely send the same bytes again"
    case .serverTrust: "whom we trust, and whom the server shows itself to be, does not change by itself"
    case .source(let failure):
      failure.isTransient ? "the file may come to rest" : "somebody has to see to the file that is sent"
    case .upload(let failure): failure.retryReason
    case .remote(let failure): failure.retryReason
    case .parameters, .multipart: "nothing was sent; the same input would fail in the same way"
    case .serialization: "the answer came; it would most likely be the same again"
    case .hook(.journal, _): "what keeps the progress may work again"
    case .hook: "the program's own hook decided so"
    case .body(let failure): failure.retryReason
    case .invalidResumeData: "the bytes that were given stay what they are; begin without them"
    case .transport: isTransient ? "what libcurl met may pass by itself" : "libcurl would fail in the same way again"
    }
  }
}

extension TransferError.ConnectionFailure {
  fileprivate var retryReason: String {
    switch self {
    case .nameNotResolved: "the name may be found when the network or the name server is back"
    case .refused: "the server may be back later"
    case .tls(_, _, true): "the network may have cut the handshake"
    case .tls: "certificates, keys and TLS settings do not change by themselves"
    case .proxy(let failure):
      failure.isTransient ? "the proxy may be back, or let us through, later" : "the proxy would refuse again"
    case .addressRefused: "the rule about addresses does not change by itself"
    case .timedOut: "the server or the way to it may be overloaded"
    case .stalled: "the server or the way to it may be overloaded"
    case .broken: "a new connection may hold"
    }
  }
}

extension TransferError.ResponseFailure {
  fileprivate var retryReason: String {
    switch self {
    case .unacceptableStatus(_, .some): "the server said when to come back"
    case .unacceptableStatus where isTransient: "the status says that the server cannot now, not that it will not"
    case .unacceptableStatus: "the server understood and refused"
    case .truncated: "the rest may come over a new connection"
    case .unrequestedPartialContent: "a cache is broken; the next try goes past it"
    case .undecodable: "the bytes may have been damaged on the way"
    case .invalidContentLength, .malformed: "the server speaks wrongly, and would again"
    case .headTooLarge, .bodyTooLarge: "the answer would be as large again"
    case .unacceptableContentType: "the server would answer the same again"
    }
  }
}

extension TransferError.FileFailure {
  fileprivate var retryReason: String {
    switch self {
    case .diskFull: "there may be room later"
    case .io: "the disk, or the file system behind it, may recover"
    case .destinationExists, .directoryMissing, .invalidName:
      "somebody has to choose another name or make room for this one"
    case .permission: "somebody has to change the permissions"
    }
  }
}

extension TransferError.RemoteFailure {
  fileprivate var retryReason: String {
    switch self {
    case .busy: "the server says that it cannot now, not that it will not"
    case .storageFull: "the server may have room later"
    case .sizeDiffers: "the next try asks how much is there by then"
    case .cannotResume: "the next try asks for all of it"
    case .missing, .isDirectory, .exists: "somebody has to see to the name"
    case .accessDenied, .loginDenied: "somebody has to see to the permissions, or to the user and the password"
    case .hostKeyUnknown, .hostKeyChanged, .hostKeyRefused:
      "somebody has to say whether the host's key is the right one"
    case .refused(_, _, true): "the server may not refuse for ever"
    case .refused, .unsupported: "the server understood and refused"
    }
  }
}

extension TransferError.UploadFailure {
  fileprivate var retryReason: String {
    switch self {
    case .outcomeUnknown: "the server may have taken it: sent again, it could be there twice"
    case .answeredEarly: "what the server holds is asked for before the next try"
    case .gone: "the next try begins anew"
    case .stuck: "the server may take the bytes later"
    case .lengthDiffers: "the server holds other bytes than the file has"
    case .refused(_, _, _, _, true): "the server says that it may pass"
    case .refused, .unsupported: "the server understood and refused"
    case .credentials: "somebody has to see to the credentials"
    }
  }
}

extension TransferError.BodyFailure {
  fileprivate var retryReason: String {
    switch self {
    case .answeredEarly: "what the server keeps of it is not known"
    case .starved: "the stream may bring more the next time"
    case .notReplayable, .streamFailed: "a stream can be read once only"
    case .alreadyRead: "the stream was given to its reader"
    }
  }
}

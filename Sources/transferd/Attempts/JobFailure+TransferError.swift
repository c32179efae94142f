import Store
import TransferAPI
import TransferEngine

/// Translates the engine's errors into the API's error codes. No other code does so.
extension JobFailure {
  init(_ error: TransferError, of kind: JobKind = .download) {
    let code = Self.code(of: error)
    self.init(
      code: code, message: error.description, httpStatus: error.status ?? code.httpStatus, transient: error.isTransient)
    if kind == .upload, case .remote(.missing) = error { self.code = .destinationMissing }
    // The journal writes to the store, so report the store's error.
    if case .hook(.journal, let inner) = error, let store = inner as? StoreError { self = JobFailure(store) }
    // An adapter needs a secret to send a request; a retrier asks for a new URL.
    if case .hook(_, let inner) = error, let secret = inner as? SecretResolver.Unavailable {
      self.init(code: .credentials, message: secret.description, transient: secret.isTransient)
    }
    if case .hook(.adapter, let inner) = error, let file = inner as? ConnectionFiles.Unusable {
      self.init(
        code: file.reason == .permission ? .permission : .credentials, message: file.description,
        transient: file.reason == .unreadable)
    }
  }

  init(_ error: StoreError) {
    switch error {
    case .destinationTaken: self.init(code: .destinationExists, message: error.description, transient: false)
    case .diskFull: self.init(code: .diskFull, message: error.description, transient: true)
    default: self.init(code: .internal, message: error.description, transient: true)
    }
  }

  private static func code(of error: TransferError) -> Code {
    switch error {
    case .invalidURL, .hook, .transport, .parameters, .multipart, .serialization, .body, .invalidResumeData: .internal
    case .unsupportedScheme, .redirect(.unsupportedScheme): .unsupportedProtocol
    case .cancelled: .cancelled
    case .connection(let failure): code(of: failure)
    case .response(let failure): code(of: failure)
    case .redirect(.tooMany): .tooManyRedirects
    case .redirect(.refused), .redirect(.dropsBody): .redirectRefused
    case .redirect(.missingLocation(let status)): .http(status)
    case .file(let failure): code(of: failure)
    case .source(let failure): code(of: failure)
    case .upload(let failure): code(of: failure)
    case .verification(.digest): .checksumMismatch
    case .verification(.length): .truncated
    case .serverTrust: .tls
    case .remote(let failure): code(of: failure)
    }
  }

  private static func code(of failure: TransferError.RemoteFailure) -> Code {
    switch failure {
    case .missing, .isDirectory: .sourceMissing
    case .accessDenied, .loginDenied: .permission
    case .busy, .refused: .connect
    case .exists: .destinationExists
    case .storageFull: .diskFull
    case .cannotResume, .sizeDiffers: .protocolError
    case .hostKeyUnknown, .hostKeyChanged, .hostKeyRefused: .tls
    case .unsupported: .unsupportedProtocol
    }
  }

  private static func code(of failure: TransferError.ConnectionFailure) -> Code {
    switch failure {
    case .nameNotResolved: .dns
    case .refused, .proxy, .broken: .connect
    case .tls: .tls
    case .addressRefused: .permission
    case .interfaceMissing: .network
    case .timedOut: .timeout
    case .stalled: .stalled
    }
  }

  private static func code(of failure: TransferError.ResponseFailure) -> Code {
    switch failure {
    case .unacceptableStatus(let status, _): .http(status)
    case .truncated: .truncated
    case .unrequestedPartialContent: .http(206)
    case .invalidContentLength, .headTooLarge, .bodyTooLarge, .undecodable, .malformed, .unacceptableContentType:
      .protocolError
    }
  }

  private static func code(of failure: TransferError.SourceFailure) -> Code {
    switch failure {
    case .missing: .sourceMissing
    case .notRegular, .changed, .keepsChanging: .sourceChanged
    case .lengthUnknown: .io
    }
  }

  private static func code(of failure: TransferError.UploadFailure) -> Code {
    switch failure {
    case .outcomeUnknown: .outcomeUnknown
    case .refused(_, _, let status?, _, _): .http(status)
    case .answeredEarly, .refused, .gone, .stuck: .protocolError
    case .lengthDiffers: .truncated
    case .unsupported: .unsupportedProtocol
    case .credentials: .credentials
    }
  }

  private static func code(of failure: TransferError.FileFailure) -> Code {
    switch failure {
    case .destinationExists: .destinationExists
    case .directoryMissing: .destinationMissing
    case .tooLarge: .tooLarge
    case .invalidName: .internal
    case .diskFull: .diskFull
    case .permission: .permission
    case .io: .io
    }
  }
}

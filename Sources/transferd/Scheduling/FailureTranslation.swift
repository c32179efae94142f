import Store
import TransferAPI
import TransferEngine

/// The engine's errors in the contract's words: the one switch between the two rooms.
extension JobFailure {
  init(_ error: TransferError) {
    self.init(
      code: Self.code(of: error), message: error.description, httpStatus: error.status, transient: error.isTransient)
    // The journal is the store: what it could not do is said in its own words.
    if case .hook(.journal, let inner) = error, let store = inner as? StoreError { self = JobFailure(store) }
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
    case .unsupportedScheme: .unsupportedProtocol
    case .cancelled: .cancelled
    case .connection(let failure): code(of: failure)
    case .response(let failure): code(of: failure)
    case .redirect(.tooMany): .tooManyRedirects
    case .redirect(.refused), .redirect(.dropsBody): .redirectRefused
    case .redirect(.missingLocation(let status)): .http(status)
    case .file(let failure): code(of: failure)
    case .verification(.digest): .checksumMismatch
    case .verification(.length): .truncated
    }
  }

  private static func code(of failure: TransferError.ConnectionFailure) -> Code {
    switch failure {
    case .nameNotResolved: .dns
    case .refused, .proxy, .broken: .connect
    case .tls: .tls
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

  private static func code(of failure: TransferError.FileFailure) -> Code {
    switch failure {
    case .destinationExists: .destinationExists
    case .directoryMissing: .destinationMissing
    case .invalidName: .internal
    case .diskFull: .diskFull
    case .permission: .permission
    case .io: .io
    }
  }
}

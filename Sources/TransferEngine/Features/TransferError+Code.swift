extension TransferError {
  /// What kind of failure it is, without its facts: what retry policies choose by.
  public enum Code: String, Sendable, CaseIterable {
    case invalidURL, unsupportedScheme, cancelled
    case nameNotResolved, refused, tlsRefused, tlsInterrupted, serverTrust, proxy, proxyRefused, timedOut, stalled
    case connectionLost
    case unacceptableStatus, unacceptableContentType, truncated, invalidContentLength, headTooLarge, bodyTooLarge
    case unrequestedPartialContent, undecodable, malformed
    case redirect, verification, parameters, multipart, serialization
    case destinationExists, directoryMissing, invalidName, diskFull, permission, fileIO
    case answeredEarly, notReplayable, streamFailed, streamStarved, alreadyRead, invalidResumeData
    case source, sourceUnsettled, upload, uploadInterrupted, remote, remoteUnavailable
    case journal, hook
    case transport, transportInterrupted
  }

  public var code: Code {
    switch self {
    case .invalidURL: .invalidURL
    case .unsupportedScheme: .unsupportedScheme
    case .cancelled: .cancelled
    case .connection(let failure): failure.code
    case .response(let failure): failure.code
    case .redirect: .redirect
    case .file(let failure): failure.code
    case .verification: .verification
    case .parameters: .parameters
    case .multipart: .multipart
    case .serialization: .serialization
    case .body(let failure): failure.code
    case .invalidResumeData: .invalidResumeData
    case .serverTrust: .serverTrust
    case .source(let failure): failure.isTransient ? .sourceUnsettled : .source
    case .upload(let failure): failure.isTransient ? .uploadInterrupted : .upload
    case .remote(let failure): failure.isTransient ? .remoteUnavailable : .remote
    case .hook(.journal, _): .journal
    case .hook: .hook
    case .transport(_, _, let isTransient): isTransient ? .transportInterrupted : .transport
    }
  }
}

extension TransferError.ConnectionFailure {
  fileprivate var code: TransferError.Code {
    switch self {
    case .nameNotResolved: .nameNotResolved
    case .refused: .refused
    case .tls(_, _, let isTransient): isTransient ? .tlsInterrupted : .tlsRefused
    case .proxy(let failure): failure.isTransient ? .proxy : .proxyRefused
    case .timedOut: .timedOut
    case .stalled: .stalled
    case .broken: .connectionLost
    }
  }
}

extension TransferError.ResponseFailure {
  fileprivate var code: TransferError.Code {
    switch self {
    case .unacceptableStatus: .unacceptableStatus
    case .unacceptableContentType: .unacceptableContentType
    case .truncated: .truncated
    case .invalidContentLength: .invalidContentLength
    case .headTooLarge: .headTooLarge
    case .bodyTooLarge: .bodyTooLarge
    case .unrequestedPartialContent: .unrequestedPartialContent
    case .undecodable: .undecodable
    case .malformed: .malformed
    }
  }
}

extension TransferError.FileFailure {
  fileprivate var code: TransferError.Code {
    switch self {
    case .destinationExists: .destinationExists
    case .directoryMissing: .directoryMissing
    case .invalidName: .invalidName
    case .diskFull: .diskFull
    case .permission: .permission
    case .io: .fileIO
    }
  }
}

extension TransferError.BodyFailure {
  fileprivate var code: TransferError.Code {
    switch self {
    case .answeredEarly: .answeredEarly
    case .notReplayable: .notReplayable
    case .streamFailed: .streamFailed
    case .starved: .streamStarved
    case .alreadyRead: .alreadyRead
    }
  }
}

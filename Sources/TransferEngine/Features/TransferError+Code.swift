extension TransferError {
  /// What kind of failure it is, without its facts: what retry policies choose by.
  public enum Code: String, Sendable, CaseIterable {
    /// `TransferError.invalidURL`.
    case invalidURL
    /// `TransferError.unsupportedScheme`.
    case unsupportedScheme
    /// `TransferError.cancelled`.
    case cancelled
    /// The host's name could not be resolved.
    case nameNotResolved
    /// Nobody listens there, or no route leads there.
    case refused
    /// The host has no address that may be connected to.
    case addressRefused
    /// The TLS handshake failed, for good.
    case tlsRefused
    /// The TLS handshake was cut off.
    case tlsInterrupted
    /// The server could not prove who it is.
    case serverTrust
    /// The way through a proxy failed, and may not the next time.
    case proxy
    /// A proxy does not let us through, for good.
    case proxyRefused
    /// No connection within the connect timeout.
    case timedOut
    /// No progress for the stall timeout.
    case stalled
    /// The connection broke in mid-transfer.
    case connectionLost
    /// A status that is no success, or that a validation does not accept.
    case unacceptableStatus
    /// A content type that a validation does not accept.
    case unacceptableContentType
    /// Fewer bytes than the response said.
    case truncated
    /// Content-Length is no number, or two.
    case invalidContentLength
    /// The head is longer than the limit.
    case headTooLarge
    /// The body is longer than the limit.
    case bodyTooLarge
    /// A 206 that nobody asked for.
    case unrequestedPartialContent
    /// The content coding is unknown, or its end is wrong.
    case undecodable
    /// The answer is no HTTP.
    case malformed
    /// A redirect could not be followed.
    case redirect
    /// The whole file came, and is not what was expected.
    case verification
    /// The request's parameters could not be encoded.
    case parameters
    /// The form could not be put together.
    case multipart
    /// The answer is not what was asked for.
    case serialization
    /// There is a file of that name.
    case destinationExists
    /// The directory does not exist.
    case directoryMissing
    /// The name cannot be a file's.
    case invalidName
    /// No room, or no quota.
    case diskFull
    /// Not allowed.
    case permission
    /// Another failure of a file or its disk.
    case fileIO
    /// A success came before the body was sent.
    case answeredEarly
    /// A stream was to be sent a second time.
    case notReplayable
    /// The stream that is sent threw.
    case streamFailed
    /// The stream that is sent brought nothing for too long.
    case streamStarved
    /// An answer's pieces have one reader.
    case alreadyRead
    /// `TransferError.invalidResumeData`.
    case invalidResumeData
    /// The file to be sent cannot be, for good.
    case source
    /// The file to be sent changes.
    case sourceUnsettled
    /// An upload's server refused, for good.
    case upload
    /// An upload's server failed, and may not the next time.
    case uploadInterrupted
    /// A server of files refused, for good.
    case remote
    /// A server of files cannot now.
    case remoteUnavailable
    /// The download's journal threw.
    case journal
    /// Another hook threw.
    case hook
    /// libcurl failed in another way, for good.
    case transport
    /// libcurl failed in another way, and may not the next time.
    case transportInterrupted
  }

  /// What kind of failure it is.
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
    case .addressRefused: .addressRefused
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

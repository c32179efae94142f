extension TransferError {
  /// The kind of a failure, without its facts. Retry policies choose by it.
  public enum Code: String, Sendable, CaseIterable {
    /// `TransferError.invalidURL`.
    case invalidURL
    /// `TransferError.unsupportedScheme`.
    case unsupportedScheme
    /// `TransferError.cancelled`.
    case cancelled
    /// The host's name could not be resolved.
    case nameNotResolved
    /// The host refused the connection, or no route leads to it.
    case refused
    /// The host has no address that the request may connect to.
    case addressRefused
    /// The network interface that the request must use does not exist.
    case interfaceMissing
    /// The TLS handshake failed permanently.
    case tlsRefused
    /// The TLS handshake was interrupted.
    case tlsInterrupted
    /// The server's identity could not be verified.
    case serverTrust
    /// The connection through a proxy failed; a retry may succeed.
    case proxy
    /// A proxy refuses the request permanently.
    case proxyRefused
    /// No connection was made within the connect timeout.
    case timedOut
    /// No progress was made within the stall timeout.
    case stalled
    /// The connection broke during the transfer.
    case connectionLost
    /// The status is not 2xx, or a validation does not accept it.
    case unacceptableStatus
    /// A content type that a validation does not accept.
    case unacceptableContentType
    /// Fewer bytes arrived than the response announced.
    case truncated
    /// Content-Length is not a number, or has two values.
    case invalidContentLength
    /// The head is longer than the limit.
    case headTooLarge
    /// The body is longer than the limit.
    case bodyTooLarge
    /// A 206 response to a request for the whole file.
    case unrequestedPartialContent
    /// The content coding is unknown, or the coded body is damaged or incomplete.
    case undecodable
    /// The response is not valid HTTP.
    case malformed
    /// A redirect could not be followed.
    case redirect
    /// The complete file is not the expected one.
    case verification
    /// The request's parameters could not be encoded.
    case parameters
    /// The form could not be encoded.
    case multipart
    /// The response could not be serialized.
    case serialization
    /// The destination exists.
    case destinationExists
    /// The directory does not exist.
    case directoryMissing
    case fileTooLarge
    /// The name cannot be used for a file.
    case invalidName
    /// No space or no quota is left.
    case diskFull
    /// Access is denied.
    case permission
    /// Another failure of a file or its disk.
    case fileIO
    /// A success arrived before the body was sent.
    case answeredEarly
    /// A stream cannot be sent a second time.
    case notReplayable
    /// The stream that provides the body threw.
    case streamFailed
    /// The stream that provides the body produced nothing for the stall timeout.
    case streamStarved
    /// The body of the response already has a reader.
    case alreadyRead
    /// `TransferError.invalidResumeData`.
    case invalidResumeData
    /// The source file cannot be sent; permanent.
    case source
    /// The source file keeps changing.
    case sourceUnsettled
    /// The server refuses the upload permanently.
    case upload
    /// The upload failed at the server; a retry may succeed.
    case uploadInterrupted
    /// A file server refuses the request permanently.
    case remote
    /// A file server cannot serve the request now.
    case remoteUnavailable
    /// The download's journal threw.
    case journal
    /// Another hook threw.
    case hook
    /// Another failure of libcurl; permanent.
    case transport
    /// Another failure of libcurl; a retry may succeed.
    case transportInterrupted
  }

  /// The kind of this failure.
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
    case .interfaceMissing: .interfaceMissing
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
    case .tooLarge: .fileTooLarge
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

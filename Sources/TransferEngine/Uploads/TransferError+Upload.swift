extension TransferError {
  /// What is wrong with the file that is sent.
  public enum SourceFailure: Sendable, Equatable {
    /// The file does not exist.
    case missing(String)
    /// It is a directory, a FIFO or a device.
    case notRegular(String)
    /// It has bytes, but its file system reports no length, as in /proc: how much has to be sent is not known.
    case lengthUnknown(String)
    /// It was changed, truncated or replaced after its first byte was sent.
    case changed(String)
    /// It changed again after each restart of the upload.
    case keepsChanging(String)
  }

  /// What went wrong with an upload at the server.
  public enum UploadFailure: Sendable, Equatable {
    /// The whole body was sent and no response came, or success was reported before that: a request that must not be
    /// repeated may have been carried out.
    case outcomeUnknown
    /// The server reported success before it had received everything.
    case answeredEarly(sent: Int64, total: Int64)
    /// The server has another number of bytes than the file.
    case lengthDiffers(expected: Int64, actual: Int64)
    /// The server's own description of a failure.
    case refused(code: String, message: String, status: Int?, retryAfter: Duration?, isTransient: Bool)
    /// The server does not support the protocol, or not enough of it.
    case unsupported(String)
    /// The server no longer knows the upload; only a new one helps.
    case gone
    /// The server accepts bytes, but its offset does not move.
    case stuck(at: Int64)
    /// There are no credentials, or they could not be loaded.
    case credentials(String)
  }
}

extension TransferError.SourceFailure {
  var isTransient: Bool { if case .keepsChanging = self { true } else { false } }
}

extension TransferError.UploadFailure {
  var isTransient: Bool {
    switch self {
    case .outcomeUnknown, .lengthDiffers, .unsupported, .credentials: false
    case .answeredEarly, .gone, .stuck: true
    case .refused(_, _, _, _, let isTransient): isTransient
    }
  }
}

extension TransferError.SourceFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path): "the file \(path) does not exist"
    case .notRegular(let path): "cannot send \(path): it is not a regular file"
    case .lengthUnknown(let path): "cannot send \(path): it has bytes, but its file system reports no length"
    case .changed(let path): "the file \(path) changed while it was being sent"
    case .keepsChanging(let path): "the file \(path) changes faster than it can be sent"
    }
  }
}

extension TransferError.UploadFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .outcomeUnknown:
      "the server did not confirm a request that was sent: it may have stored the file. Check there; retry sends it again"
    case .answeredEarly(let sent, let total):
      "the server reported success after \(sent) of \(total) bytes"
    case .lengthDiffers(let expected, let actual):
      "the server holds \(actual) bytes, the file has \(expected)"
    case .refused(let code, let message, _, _, _):
      message.isEmpty ? "the server answered \(code)" : "the server answered \(code): \(message)"
    case .unsupported(let reason): "the server cannot take the upload this way: \(reason)"
    case .stuck(let offset): "the server accepts bytes, but its offset stays at \(offset)"
    case .gone: "the server no longer has the unfinished upload"
    case .credentials(let reason): "cannot get credentials: \(reason)"
    }
  }
}

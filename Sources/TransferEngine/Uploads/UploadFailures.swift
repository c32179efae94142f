extension TransferError {
  /// What is wrong with the file that is to be sent.
  public enum SourceFailure: Sendable, Equatable {
    /// The file is not there.
    case missing(String)
    /// A directory, a FIFO, a device.
    case notRegular(String)
    /// Changed, truncated or replaced since its first byte was sent.
    case changed(String)
    /// The same, again and again, where each change starts the upload over.
    case keepsChanging(String)
  }

  /// What an upload's server did or did not do.
  public enum UploadFailure: Sendable, Equatable {
    /// The whole body was sent and no answer came: a request that must not be made twice may have been carried out.
    case outcomeUnknown
    /// The server said it had it all before all was sent.
    case answeredEarly(sent: Int64, total: Int64)
    /// The server holds another number of bytes than the file has.
    case lengthDiffers(expected: Int64, actual: Int64)
    /// What the server said in its own words.
    case refused(code: String, message: String, status: Int?, retryAfter: Duration?, isTransient: Bool)
    /// The server does not speak the protocol, or not enough of it.
    case unsupported(String)
    /// The server has forgotten an upload that was begun; only a new one helps.
    case gone
    /// The server takes bytes, or says so, and its offset does not move.
    case stuck(at: Int64)
    /// There are no credentials, or they cannot be had.
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
    case .changed(let path): "the file \(path) changed while it was being sent"
    case .keepsChanging(let path): "the file \(path) changes faster than it can be sent"
    }
  }
}

extension TransferError.UploadFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .outcomeUnknown:
      "no answer came to a request that was sent: the server may have taken the file. Look there; retry sends it again"
    case .answeredEarly(let sent, let total):
      "the server answered with success after \(sent) of \(total) bytes"
    case .lengthDiffers(let expected, let actual):
      "the server holds \(actual) bytes, the file has \(expected)"
    case .refused(let code, let message, _, _, _):
      message.isEmpty ? "the server answered \(code)" : "the server answered \(code): \(message)"
    case .unsupported(let reason): "the server cannot take the upload this way: \(reason)"
    case .stuck(let offset): "the server's offset stays at \(offset), whatever is sent"
    case .gone: "the server has forgotten the upload that was begun"
    case .credentials(let reason): "cannot get credentials: \(reason)"
    }
  }
}

import FoundationEssentials
import HTTPTypes
import WireValues

/// The response to one request of an upload. A failure is stored as a value here, because the number of bytes that were
/// sent before it is needed.
struct UploadResponse: Sendable {
  var head: ResponseHead?
  /// The response's body, up to a limit.
  var data = Data()
  /// Body bytes that were sent before the response's last byte arrived: what a server reads afterwards may be
  /// discarded.
  var sent: Int64 = 0
  /// The size of the request's body in bytes.
  var size: Int64 = 0
  var failure: TransferError?

  var isBodySent: Bool { sent >= size }

  /// - Throws: `.upload(.answeredEarly)` if the response came before the whole body was sent.
  func checkSent() throws(TransferError) {
    guard isBodySent else { throw .upload(.answeredEarly(sent: sent, total: size)) }
  }

  /// The server accepted the whole body.
  var isSuccess: Bool { failure == nil && isBodySent && head.map { (200..<300).contains($0.status) } ?? false }

  /// The head of a complete response.
  func get() throws(TransferError) -> ResponseHead {
    if let failure { throw failure }
    guard let head else { throw .connection(.broken("no response")) }
    return head
  }

  /// The head of a successful response.
  func success() throws(TransferError) -> ResponseHead {
    let head = try get()
    guard (200..<300).contains(head.status) else { throw head.refusal }
    return head
  }
}

extension UploadResponse {
  /// - Parameter size: the size of the request's body.
  /// - Returns: `nil` for a cancelled transfer.
  init?(_ outcome: TransferOutcome, _ receiver: UploadReceiver, size: Int64) {
    switch outcome {
    case .cancelled: return nil
    case .finished(let head, _): self.head = head
    case .failed(let error, let head, _):
      self.head = head
      failure = error
    }
    data = receiver.data
    sent = min(outcome.metrics?.bytesSent ?? 0, receiver.takenBefore ?? .max)
    self.size = size
    // A status counts, even if the connection broke while the body (RFC 9110 §15.5.14) or the rest of the response was
    // being sent.
    if let head, failure.map(\.isConnectionTrouble) ?? false,
      head.status >= 400 || (200..<300).contains(head.status) && isBodySent
    {
      failure = nil
    }
  }

  /// Whether the request may have been carried out although it has not succeeded: the whole body was sent and no
  /// response arrived, or success was reported before the whole body was sent. libcurl reports no failure if the connection
  /// ends in the middle of the response's head.
  var isOutcomeUnknown: Bool {
    if let head { return (200..<300).contains(head.status) && !isBodySent }
    return isBodySent && failure.map { !$0.cameBeforeTheRequest } ?? true
  }
}

extension TransferError {
  /// Whether the connection ended early, without a fault of this side.
  fileprivate var isConnectionTrouble: Bool {
    switch self {
    case .connection(.broken), .response(.truncated), .connection(.stalled): true
    default: false
    }
  }
}

extension ResponseHead {
  /// A field by its name, for names that HTTPTypes does not define.
  func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

  /// A field that is a count of bytes: digits that fit into 63 bits; otherwise `nil`.
  func count(_ name: String) -> Int64? {
    field(name).flatMap { CheckedNumber(digits: $0.trimmingBlanks()).value }
  }
}

extension HTTPFields {
  /// Sets a field by a name that is a valid token.
  mutating func set(_ name: String, _ value: String?) {
    guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is not a field name") }
    self[name] = value
  }
}

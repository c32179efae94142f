/// What libcurl reads from the TLS connections of one multi handle. Used on the loop's thread only.
///
/// libcurl 7.88 reads frames of HTTP/2 until one has content. A server that sends empty ones fast enough would keep the
/// loop's thread for as long as it likes, and with it all other transfers. So one call of libcurl reads only so much
/// without handing anything over.
final class TLSReading {
  private var records = 0
  private var alert: (session: UnsafeMutableRawPointer, number: UInt8)?

  /// Records of TLS, each of up to 16 KiB. A server's other frames (PING, WINDOW_UPDATE) fill a few.
  private static let maximum = 1024

  /// Something was handed over, or libcurl was called anew.
  func reset() { records = 0 }

  /// Called for each record.
  /// - Returns: false if the connection must end.
  func take() -> Bool {
    records = min(records + 1, Self.maximum)  // checked: at most the maximum
    return records < Self.maximum
  }

  /// A connection begins; an earlier one may have had the same address.
  func begin(_ session: UnsafeMutableRawPointer) { if alert?.session == session { alert = nil } }

  /// The server has ended the connection with an alert (RFC 8446 §6.2).
  func end(_ session: UnsafeMutableRawPointer, by number: UInt8) { alert = (session, number) }

  /// What the server says of the client certificate with its last alert; `nil` if it says nothing of it.
  func verdict(on session: UnsafeMutableRawPointer) -> String? {
    guard let alert, alert.session == session else { return nil }
    return switch alert.number {
    case 116: "the server requires a client certificate"
    case 42, 43, 46, 51: "the server refuses the client certificate"
    case 44: "the server refuses the client certificate: it was revoked"
    case 45: "the server refuses the client certificate: it has expired"
    case 48: "the server refuses the client certificate: it does not know its authority"
    case 49: "the server refuses the client certificate: access is denied"
    default: nil
    }
  }
}

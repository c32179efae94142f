/// Bounds what one call of libcurl reads from a TLS connection without handing anything over. Used on the loop's thread
/// only.
///
/// libcurl 7.88 reads frames of HTTP/2 until one has content. A server that sends empty ones fast enough would keep the
/// loop's thread for as long as it likes, and with it all other transfers.
final class ReadingLimit {
  private var records = 0

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
}

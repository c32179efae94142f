/// How the body of a stream is cut into the values that a serializer gets.
public enum StreamFraming: Sendable {
  /// Pieces as they arrive from the network, as in Alamofire. A server's message may arrive in several pieces, and several
  /// messages in one.
  case pieces
  /// Lines that end with LF or CRLF, without their ends; empty lines are left out. For newline-delimited JSON. A line of
  /// more than 16 MiB is an error.
  case lines
}

/// Whether the stream of an upload is stored so that it can be sent again.
public enum StreamReplay: Sendable {
  /// Stored if the request or the session has an interceptor, which may retry.
  case automatic
  /// Written to a nameless file in TMPDIR (or else /var/tmp) before it is sent, then sent with its length.
  case spooled
  /// Sent in chunks as it arrives. A retry or a redirect that needs the body again fails the request.
  case once
}

enum HeadVerdict: Sendable {
  /// The body is wanted.
  case takeBody
  /// The body is not wanted: it is read and dropped if it is short, so that the connection can be reused.
  case dropBody
  /// No more is wanted: end now, without an error.
  case stop
}

public import FoundationEssentials

/// The body of a request.
public enum RequestBody: Sendable {
  /// These bytes, which stay in memory until the request ends.
  case data(Data)
  /// The file at this path, read as it is sent. Its size must not change until the request ends.
  case file(path: String)
  /// The pieces of an asynchronous sequence, sent once, in chunks.
  case stream(BodyPipe)
  /// These pieces in sequence: a form of any size in constant memory.
  case segments([BodySegment])
}

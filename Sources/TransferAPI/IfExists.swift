/// What a download does if its destination exists.
public enum IfExists: String, Codable, CaseIterable, Sendable {
  /// It is refused, or fails if the file appears later.
  case fail
  /// It completes at once, with the result `skipped`.
  case skip
  /// It completes with the result `unchanged` if the file has the expected digest or the one that the server declares.
  /// Otherwise it replaces the file.
  case verify
  /// The new file gets another name when it is complete: `a.1.txt`.
  case rename
  /// The file is replaced when the new one is complete.
  case replace
}

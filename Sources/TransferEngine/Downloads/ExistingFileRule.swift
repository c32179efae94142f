/// What a download does if its destination exists.
public enum ExistingFileRule: String, Sendable, Hashable, CaseIterable {
  /// It fails, before a request is sent if the name is known.
  case fail
  /// The file stays as it is, whatever it contains.
  case skip
  /// The file stays if it has the expected digest, or else the one that the server declares. It is replaced if not, and if
  /// there is no digest: an equal length proves nothing.
  case verify
  /// The new file gets another name: `a.1.txt`.
  case rename
  /// The file is replaced.
  case replace
}

/// What a successful download has done.
public enum FileOutcome: String, Sendable, Hashable {
  /// The file was fetched.
  case transferred
  /// The destination is the server's version already; nothing was changed.
  case unchanged
  /// The destination exists, and was left as it is.
  case skipped
}

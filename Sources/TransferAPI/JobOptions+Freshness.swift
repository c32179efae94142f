/// Options about a destination that exists.
extension JobOptions {
  /// Options that say the same thing in two ways: a line that gives one of them overrides both.
  static let aboutExistingFiles: Set<String> = ["replace", "ifExists"]

  /// Fields of a request that `ifChanged` sends.
  private static let conditions = ["If-None-Match", "If-Modified-Since"]

  /// - Parameter scheme: `nil`: unknown.
  /// - Throws: `WireError` for options that contradict each other.
  func checkFreshness(scheme: String?) throws(WireError) {
    let existing = try download.existing()
    guard download.ifChanged else { return }
    switch existing {
    case .fail, .replace: break
    case .skip, .verify, .rename:
      throw WireError(
        text:
          "\(field: "ifChanged") and \(field: "ifExists") \(existing.rawValue) contradict each other; give fail or replace"
      )
    }
    if download.nameFromResponse {
      throw WireError(
        text:
          "\(field: "ifChanged") and \(field: "nameFromResponse") exclude each other: the file's name must be known before the response"
      )
    }
    if scheme == "scp" {
      throw WireError(
        text: "\(field: "ifChanged") is not for scp, which cannot tell the time of a file; use sftp, or leave it out")
    }
    for header in Self.conditions { try checkIsOnlyOption("ifChanged", sentAs: header) }
  }
}

extension JobOptions.Download {
  /// What happens if the destination exists, from the two options that say it.
  /// - Throws: `WireError` if they contradict each other.
  public func existing() throws(WireError) -> IfExists {
    guard replace else { return ifExists ?? .fail }
    guard ifExists ?? .replace == .replace else {
      throw WireError(
        text:
          "\(field: "replace") and \(field: "ifExists") \(ifExists?.rawValue ?? "") contradict each other; give one of them"
      )
    }
    return .replace
  }

  /// The same rule by both options, so that each of them can be read alone.
  /// - Throws: `WireError` if they contradict each other.
  public mutating func completeExisting() throws(WireError) {
    let existing = try existing()
    replace = existing == .replace
    ifExists = existing == .fail ? nil : existing
  }
}

extension NewJob {
  /// Checks what happens to the file of a completed job.
  /// - Throws: `WireError`.
  public func checkSuccessAction() throws(WireError) {
    guard kind == .download else { return }
    switch options.onSuccess {
    case .keep: return
    case .delete:
      throw WireError(
        text: "\(field: "onSuccess") of a download is keep or move=DIR: deleting its file would undo it")
    case .move where options.download.ifChanged:
      throw WireError(
        text:
          "\(field: "ifChanged") and \(field: "onSuccess") move contradict each other: the next run would not find the file at its place"
      )
    case .move: return
    }
  }

  /// Checks options that the key excludes: a job that is asked for again is another run of `ifChanged`, and a key returns the
  /// first one.
  /// - Throws: `WireError`.
  public func checkFreshness() throws(WireError) {
    guard options.download.ifChanged, key != nil else { return }
    throw WireError(
      text:
        "\(field: "ifChanged") and \(field: "key") contradict each other: the key returns the earlier job, which does not look for changes again"
    )
  }
}

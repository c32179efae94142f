extension FuzzCase {
  private static let groups: [[FuzzCase]] = [
    http, resume, names, uploads, remote, stored, control, settings, coding, lists, mirrors, listings,
  ]

  /// All cases. `Corpora` has a folder for each of them.
  static let all: [FuzzCase] = groups.flatMap { $0 }
}

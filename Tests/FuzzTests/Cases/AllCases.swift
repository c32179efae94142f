extension FuzzCase {
  private static let groups: [[FuzzCase]] = [http, resume, names, uploads, remote, stored, control, settings, coding]

  /// Every case. `Corpora` has a folder for each.
  static let all: [FuzzCase] = groups.flatMap { $0 }
}

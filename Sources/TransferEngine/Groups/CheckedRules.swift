/// Checks the path rules of files that are renamed in one directory. The directory is checked once for consecutive
/// files with the same rules, and each name separately.
struct CheckedRules {
  private var checked: PathRules?

  mutating func check(_ target: DownloadTarget, _ rules: PathRules) throws(TransferError) {
    guard !rules.isEmpty else { return }
    let path = target.directory.path(of: target.name)
    if checked != rules {
      try rules.check(target.directory.descriptor, as: path)
      checked = rules
    }
    try rules.checkName(target.name, in: target.directory.identity, as: path)
  }
}

/// Checks the rules of files that get their names in one directory: the directory once for consecutive files with the same
/// rules, each name by itself.
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

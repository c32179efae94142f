import Store
import TransferAPI
import TransferEngine

/// The open directories of a group of file actions. Each directory is opened and checked once for each user.
final class OpenDirectories {
  private struct Key: Hashable {
    var path: String
    var owner: UInt32
  }

  private var known: [Key: Directory] = [:]

  var count: Int { known.count }

  /// - Parameter owner: the user that the rules apply to.
  func open(_ path: String, _ rules: PathRules, for owner: UInt32) throws(TransferError) -> Directory {
    let key = Key(path: path, owner: owner)
    if let directory = known[key] { return directory }
    let directory = try Directory.open(path, rules: rules)
    known[key] = directory
    return directory
  }
}

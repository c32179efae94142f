import Digests
import FoundationEssentials
import WireValues

/// The name of a file on a server until it is complete: hidden, beside its target, and specific to this version of this
/// source. All attempts use the same name, so a kill leaves at most one file, and the next attempt finds it.
struct TemporaryName: Sendable, Equatable {
  /// Percent-encoded, as in a URL.
  let path: String

  /// - Throws: `.invalidURL` if the target does not name a file.
  init(for target: RequestURL, source: SourceIdentity) throws(TransferError) {
    let path = target.path
    let name = path.baseName
    guard path.containsSlash, !name.isEmpty else {
      throw .invalidURL(target.string, reason: "it names a directory, not a file")
    }
    let key =
      "\(target.ledgerTarget) \(source.device) \(source.inode) \(source.size) \(source.modified)"
    let token = String(HashFunction.sha256.digest(of: key.utf8).hex.prefix(12))
    // Almost every file system allows names of 255 bytes.
    let isLong = (name.percentDecoded ?? String(name)).utf8.count + token.count + 7 > 255
    self.path = path.beforeBaseName + (isLong ? ".\(token).part" : ".\(name).\(token).part")
  }
}

extension UploadAttempt {
  /// Records that the server has the whole file under its temporary name, and that its final name comes next.
  func recordComplete(at name: TemporaryName) async throws(TransferError) {
    try await ledger.record(.temporary(path: name.path), acknowledged: source.size, for: self)
  }

  /// Whether an earlier attempt has recorded that.
  func wasComplete(at name: TemporaryName) -> Bool {
    source.size > 0 && ledger.progress == .temporary(path: name.path) && ledger.ledger?.acknowledged == source.size
  }
}

extension RequestURL {
  /// Another path at the same origin, without a query.
  func at(path: String) throws(TransferError) -> RequestURL { try RequestURL(origin + path) }
}

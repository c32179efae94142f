import Crypto
import FoundationEssentials

/// The name under which a file stands at a server until it is whole: hidden, beside its target, and of this version of this
/// source alone. The same for every attempt, so that a kill leaves one leftover at most, and the next attempt finds it.
struct TemporaryName: Sendable, Equatable {
  /// Percent-encoded, as in the URL.
  let path: String

  /// - Throws: `.invalidURL` where the target names no file.
  init(for target: RequestURL, source: SourceIdentity) throws(TransferError) {
    let path = target.path
    guard let slash = path.lastIndex(of: "/"), path.index(after: slash) < path.endIndex else {
      throw .invalidURL(target.string, reason: "it names a directory, not a file")
    }
    let name = path[path.index(after: slash)...]
    let key =
      "\(target.ledgerTarget) \(source.device) \(source.inode) \(source.size) \(source.modified)"
    let token = String(SHA256.hash(data: Data(key.utf8)).hex.prefix(12))
    // 255 bytes are what a name may have almost everywhere.
    let isLong = (SafeFileName.percentDecoded(String(name)) ?? String(name)).utf8.count + token.count + 7 > 255
    self.path = path[...slash] + (isLong ? ".\(token).part" : ".\(name).\(token).part")
  }
}

extension RequestURL {
  /// Another path at the same origin; no query.
  func at(path: String) throws(TransferError) -> RequestURL { try RequestURL(origin + path) }
}

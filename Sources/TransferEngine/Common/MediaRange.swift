import FoundationEssentials
import WireValues

/// `type/subtype` of a Content-Type or an Accept, in lower case, without its parameters.
struct MediaRange: Equatable {
  let type: Substring
  let subtype: Substring

  init?(_ text: String) {
    let essence = text.lowercased().prefix { $0 != ";" }
    let halves = essence.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
    guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }) else { return nil }
    type = halves[0]
    subtype = halves[1]
  }

  var isAnything: Bool { type == "*" && subtype == "*" }

  func matches(_ other: MediaRange) -> Bool {
    (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
  }
}

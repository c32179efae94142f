import WireValues

/// `Content-Range` (RFC 9110 §14.4): bytes only; anything else is `nil`.
enum ContentRange: Equatable {
  /// `bytes first-last/total`; a `nil` total stands for `*`. `last` is below `Int64.max`, so `last + 1` is a valid
  /// number.
  case part(first: Int64, last: Int64, total: Int64?)
  /// `bytes */total`
  case unsatisfied(total: Int64)

  /// No value with three numbers of 19 digits is longer.
  private static let maximumBytes = 128

  init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let total = CheckedNumber(digits: halves[1]).value
    guard total != nil || halves[1] == "*" else { return nil }
    if halves[0] == "*" {
      guard let total else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = CheckedNumber(digits: ends[0]).value,
      let last = CheckedNumber(digits: ends[1]).value, first <= last, last < total ?? .max
    else { return nil }
    self = .part(first: first, last: last, total: total)
  }
}

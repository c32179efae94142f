import WireValues

/// Which pieces of a file are complete and have the right digest, and which source has sent them. Pure: the digests are
/// computed elsewhere.
struct PieceCheck: Sendable {
  /// The source of bytes that were on disk before.
  static let earlier = -1

  private enum State: Sendable { case incomplete, complete, good }

  let digests: PieceDigests
  let total: Int64
  private var states: [State]

  /// - Parameter digests: cover a file of this length.
  init(_ digests: PieceDigests, total: Int64) {
    precondition(digests.cover(total))
    self.digests = digests
    self.total = total
    states = Array(repeating: .incomplete, count: digests.count)
  }

  /// These pieces were found to be good before.
  mutating func trust(_ pieces: Set<Int>) {
    for piece in pieces where states.indices.contains(piece) { states[piece] = .good }
  }

  /// The pieces that are known to be good.
  var good: Set<Int> { Set(states.indices.filter { states[$0] == .good }) }

  /// Bytes were written.
  /// - Parameter completed: all bytes on disk.
  /// - Returns: the pieces that have become complete and have to be checked.
  mutating func written(_ range: Range<Int64>, completed: ByteRanges) -> [Int] {
    guard !range.isEmpty, range.upperBound <= total else { return [] }
    var found: [Int] = []
    for piece in digests.pieces(in: range) where states[piece] == .incomplete {
      let bytes = digests.range(piece, total: total)
      guard let around = completed.range(at: bytes.lowerBound), around.upperBound >= bytes.upperBound else { continue }
      states[piece] = .complete
      found.append(piece)
    }
    return found
  }

  /// The digest of a complete piece was compared.
  mutating func judge(_ piece: Int, isGood: Bool) { states[piece] = isGood ? .good : .incomplete }
}

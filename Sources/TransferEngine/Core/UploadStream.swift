import FoundationEssentials

/// An asynchronous sequence of pieces, of any type.
struct UploadStream: Sendable {
  /// Calls `take` with each piece, until the sequence ends or `take` returns false.
  let forEach: @Sendable (_ take: @Sendable (Data) async throws -> Bool) async throws -> Void

  init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
    forEach = { take in
      for try await piece in pieces {
        guard try await take(piece) else { return }
      }
    }
  }
}

import FoundationEssentials
import WireValues

/// The body of one transfer of an upload: pieces of memory and of the source, in order.
struct UploadBody: Sendable {
  enum Piece: Sendable {
    case bytes(Data)
    case file(OpenSource, Range<Int64>)

    var size: Int64 {
      switch self {
      case .bytes(let data): Int64(data.count)
      case .file(_, let range): Int64(range.count)
      }
    }
  }

  let pieces: [Piece]
  /// The total size in bytes.
  let size: Int64
  let meter: UploadMeter
  /// Holds the transfer while it is closed.
  var gate: UploadGate?

  init(_ pieces: [Piece], gate: UploadGate? = nil, moved: @escaping @Sendable (Int64) -> Void = { _ in }) {
    self.pieces = pieces
    self.gate = gate
    size = pieces.reduce(0) { $0.saturatingSum($1.size) }
    meter = UploadMeter(moved)
  }

  init(_ data: Data) { self.init([.bytes(data)]) }
}

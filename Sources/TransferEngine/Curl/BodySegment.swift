public import FoundationEssentials

/// A piece of a body.
public enum BodySegment: Sendable, Equatable {
  /// These bytes, kept in memory.
  case data(Data)
  /// These bytes of the file at this path, read as they are sent. The file must have them all until the request ends: a
  /// file that becomes shorter fails the request, and is never filled up with zeros.
  case file(path: String, range: Range<Int64>)
  /// The bytes of a stream, stored in a nameless file for as long as the segment exists.
  case kept(KeptStream)

  /// The number of bytes.
  public var count: Int64 {
    switch self {
    case .data(let data): Int64(data.count)
    // checked: `BodyReader` refuses ranges that begin below 0
    case .file(_, let range): range.upperBound - range.lowerBound
    case .kept(let stream): stream.count
    }
  }
}

/// Which bytes of a file that is fetched in segments are on disk. The file's length says nothing about them.
struct SegmentRecord: Sendable, Equatable, Codable {
  /// Bytes that were synced to disk.
  var synced = ByteRanges()
  /// The map of what was written since, in this boot; `nil` if there is none.
  var map: FileIdentity?
}

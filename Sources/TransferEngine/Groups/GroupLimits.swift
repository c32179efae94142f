/// What a group of downloads may use. Memory counts from a response's head until its bytes are in a file.
struct GroupLimits: Equatable, Sendable {
  /// Transfers at once from one origin.
  var connections = 8
  /// A longer body is written to its part file as it arrives.
  var bodyBytes: Int64 = 1 << 20
  /// Bytes of bodies in memory. A response for which there is no room leaves the group.
  var memoryBytes: Int64 = 32 << 20
  /// Files that have arrived and do not have their names yet. No transfer begins above this number.
  var unnamedFiles = 1024
  /// Files that end together, with one entry in the journal.
  var landingFiles = 256
  /// Downloads that are prepared at once: their directories are opened, and their names are checked.
  var preparedDownloads = 256
}

/// What a server's document says about one entry of a directory, before anything is believed of it.
enum ListedItem: Equatable, Sendable {
  /// A relative or absolute URL (HTML, WebDAV).
  /// - Parameter isDirectory: `nil`: a slash at its end says so.
  case reference(String, isDirectory: Bool?)
  /// A name as the server's file system has it (FTP, SFTP).
  case name([UInt8], isDirectory: Bool)
  /// The key of an object in a bucket.
  case key(String)
  /// The beginning of keys up to a slash: a directory of a bucket.
  case prefix(String)
  /// An entry that cannot be used: a symbolic link, a device, a line that cannot be read or is too long.
  case unusable
}

/// Reads a directory's document piece by piece. The pieces may end anywhere, and no entry is kept.
protocol ListingParser {
  /// - Throws: `.response(.malformed)`, if what follows cannot be read.
  mutating func read(_ bytes: some Collection<UInt8>, _ report: (ListedItem) -> Void) throws(TransferError)
  /// The document ends here.
  /// - Throws: `.response(.malformed)`, also for a document that is incomplete.
  mutating func finish(_ report: (ListedItem) -> Void) throws(TransferError)
  /// What was read looks like the beginning of a document. It counts where the response does not say where it ends.
  var isCutOff: Bool { get }
}

extension ListingParser {
  var isCutOff: Bool { false }
}

import FoundationEssentials
import TransferAPI
import WireValues

/// One file of a Metalink (RFC 5854 §4.1.2): its name, from where it can be fetched, and how it is recognised.
struct MetalinkFile: Equatable, Sendable {
  /// A path below the directory of the downloads.
  var name: String
  /// Bytes; `nil` if the Metalink does not say.
  var size: Int64?
  /// The digest of the whole file, by the strongest known algorithm.
  var checksum: Checksum?
  var pieces: FilePieces?
  /// http and https URLs, the preferred ones first.
  var urls: [String] = []

  /// Sets what the Metalink says about the file.
  func fill(_ job: inout NewJob) {
    job.options.download.checksum = checksum?.description
    job.options.download.size = size
    job.options.download.pieces = pieces
    job.options.download.mirrors = Array(urls.dropFirst())
  }

  /// The path of a file that a Metalink names. It may have directories, but must stay below that of the downloads.
  /// - Throws: `WireError` for a name that is not safe.
  static func checked(name: String) throws(WireError) -> String {
    func refuse(_ reason: String) -> WireError { WireError("refuses the file name \"\(name.printable)\": \(reason)") }
    guard !name.isEmpty, name.utf8.count <= 2000 else { throw refuse("it is empty or too long") }
    guard !name.isAbsolutePath else { throw refuse("it is an absolute path") }
    guard name.unicodeScalars.allSatisfy({ $0.value > 0x1F && !(0x7F...0x9F).contains($0.value) }) else {
      throw refuse("it has control characters")
    }
    // By bytes: some characters hide the slash before them or behind them from a split by characters.
    guard name.firstIndex(ofASCII: "\\") == nil else { throw refuse("it has a backslash") }
    for component in name.split(atASCII: "/", keepsEmpty: true) {
      guard !component.isEmpty else { throw refuse("it has an empty directory name, or names a directory") }
      guard component != "..", component != "." else { throw refuse("it leads out of the directory") }
      guard component.utf8.first != UInt8(ascii: ".") else {
        throw refuse("a part of it begins with a dot; choose a name with -o")
      }
      guard component.utf8.count <= 255 else { throw refuse("a part of it is longer than 255 bytes") }
    }
    return name
  }
}

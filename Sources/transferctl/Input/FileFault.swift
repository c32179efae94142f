import FoundationEssentials
import TransferAPI

/// A file that cannot be uploaded, or a download without its checksum. The other ones are still added.
struct FileFault: Error, CustomStringConvertible {
  let status: ExitStatus
  let description: String
  /// Whether the file does not exist.
  var isMissing = false
}

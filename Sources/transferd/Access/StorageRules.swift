import Store
import Synchronization
import TransferAPI
import TransferEngine

/// What the configuration says about the disks and files of downloads. Applied at each attempt, so a reload affects stored
/// jobs too.
final class StorageRules: Sendable {
  struct Settings: Equatable, Sendable {
    /// Bytes that downloads leave free on a file system; 0: they may fill it.
    var minFree: Int64 = 0
    /// The most bytes of all copies of relays.
    var spoolMax = SpoolLedger.standardLimit
    /// Note URL and checksum in extended attributes of the file.
    var notesOrigin = false
  }

  private let settings: Mutex<Settings>

  init(_ settings: Settings = Settings()) { self.settings = Mutex(settings) }

  /// Changes the rules for attempts that start from now on.
  func set(_ settings: Settings) { self.settings.withLock { $0 = settings } }

  var minFree: Int64 { settings.withLock(\.minFree) }

  /// Adds the rules to the destination of a job.
  func apply(to destination: inout DownloadDestination, of spec: JobSpec) {
    let settings = settings.withLock { $0 }
    destination.minimumFree = settings.minFree
    if settings.notesOrigin { destination.attributes.extended = Self.attributes(of: spec) }
  }

  /// The names are those of the freedesktop.org guidelines for extended attributes. Everyone who may read the file may read
  /// them, so they contain no secrets.
  static func attributes(of spec: JobSpec) -> [String: String] {
    var attributes = ["user.xdg.origin.url": Secrets.redacting(url: spec.url)]
    attributes["user.checksum"] = spec.options.download.checksum
    return attributes
  }
}

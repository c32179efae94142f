import FoundationEssentials
import Glibc
import Store
import TransferEngine
import WireValues

/// The copies of relays: `relay/TOKEN/NAME` in the state directory. The token is made when the job is added, and the job's row
/// has it before there is a file, so a copy without a job belongs to nothing.
struct RelaySpool: Sendable {
  /// An absolute path.
  let directory: String

  init(stateDirectory: String) { directory = stateDirectory + "/relay" }

  /// Where the copy of a new job will be, below `directory`: what its row stores.
  /// - Parameter url: of the source, which gives the name. Some targets learn it.
  static func place(of url: String) -> String {
    SpoolDirectory.newToken() + "/" + (URLNames(url).name ?? "download")
  }

  /// The path of the copy.
  func path(of place: String) -> String { directory + "/" + place }

  /// The paths that a relay's transfers may use: no other than the spool.
  var rules: PathRules { PathPolicy.spoolRules(directory) }

  /// Makes the directory. Blocks.
  func prepare() throws(TransferError) {
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
      throw .file(.permission("cannot create the directory \(directory): \(String(cString: strerror(errno)))"))
    }
    StateDirectory.synchronizeNames(in: directory.parentPath)
  }

  /// Deletes a copy and what there is of it. Blocks.
  func remove(_ place: String) {
    guard let token = place.componentsOfPath.first, Self.isToken(token) else { return }
    Self.remove(directory + "/" + token)
  }

  private static func remove(_ directory: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
      unlink(directory + "/" + name)
    }
    rmdir(directory)
  }

  /// Deletes the copies that no job needs. Call it before any job runs. Blocks.
  /// - Parameter known: the places of the jobs' copies, and whether the job still needs its copy.
  func sweep(known: [String: Bool]) {
    let needed = Set(known.lazy.filter(\.value).compactMap { $0.key.componentsOfPath.first.map(String.init) })
    for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
      guard Self.isToken(name[...]), !needed.contains(name) else { continue }
      Self.remove(directory + "/" + name)
    }
  }

  private static func isToken(_ text: Substring) -> Bool { SpoolDirectory.isToken(String(text)) }
}

extension JobRecord {
  /// The job as the download or the upload that it is now; other jobs than relays as they are.
  func leg(in spool: RelaySpool) -> JobRecord { leg(copy: spool.path(of: spec.spool ?? "")) }
}

import FoundationEssentials
import Glibc
import Logging
import Store
import TransferAPI
import TransferEngine
import WireValues

/// The watched folders: adds, lists and removes them, and watches them from the start of the daemon on.
actor Folders {
  private let store: Store
  private let intake: JobIntake
  private let logger: Logger
  private var watchers: [Int64: FolderWatcher] = [:]
  private let shared = FileBudget(filesOfMembers)

  /// Each needs a thread and up to three descriptors.
  static let maximum = 64
  /// Of these, for all members together and for one of them.
  static let (maximumOfMembers, maximumOfMember) = (32, 8)
  /// Files in all folders of members together: each costs some hundred bytes of memory.
  static let filesOfMembers = 200_000

  init(store: Store, intake: JobIntake, logger: Logger) {
    self.store = store
    self.intake = intake
    self.logger = logger
  }

  /// Watches the stored folders.
  func start() async {
    do {
      for stored in try await store.folders(in: .everything) { await watch(stored) }
    } catch {
      logger.error("cannot watch folders", metadata: ["error": "\(error)"])
    }
  }

  private func watch(_ stored: Store.StoredFolder) async {
    guard watchers[stored.folder.id] == nil else { return }
    do throws(Problem) {
      let uploads = try FolderUploads(id: stored.folder.id, stored.folder.folder)
      let isMembers = isMember(Caller(uid: stored.folder.owner, daemon: geteuid()))
      let watcher = FolderWatcher(stored, uploads, store, intake, shared: isMembers ? shared : nil, logger)
      watchers[stored.folder.id] = watcher
      await watcher.start()
    } catch {
      logger.error(
        "cannot watch a folder", metadata: ["folder": "\(stored.folder.id)", "reason": "\(error.detail)"])
    }
  }

  /// Durable when this returns.
  func add(_ request: NewFolder, from caller: Caller) async throws -> WatchedFolder {
    let folder = try FolderCheck.normalized(request)
    try await checkJob(of: folder, from: caller)
    let (write, read) = (intake.paths.rules(for: caller.uid, .write), intake.paths.rules(for: caller.uid, .read))
    try await BlockingWork.run {
      Result { () throws(Problem) -> Void in
        try FolderCheck.check(folder, write: write, read: read)
        var connections = ConnectionCheck(rules: read)
        try connections.check(folder.options.network)
      }
    }.get()
    let isMember = isMember(caller)
    let most = isMember ? Self.maximumOfMembers : Self.maximum
    let own = isMember ? Self.maximumOfMember : Self.maximum
    guard let stored = try await store.addFolder(folder, owner: caller.uid, at: Date(), most: most, own: own) else {
      throw Problem(
        .invalid,
        isMember
          ? "\(own) of your folders or \(most) folders in all are watched already; remove one first"
          : "\(most) folders are watched already; remove one first")
    }
    logger.notice(
      "watching a folder", metadata: ["folder": "\(stored.folder.id)", "directory": "\(folder.directory)"])
    await watch(stored)
    return stored.folder
  }

  private func isMember(_ caller: Caller) -> Bool { !caller.has(.anyPath) }

  /// Checks the options with a sample file, as they are checked for each file later.
  private func checkJob(of folder: NewFolder, from caller: Caller) async throws(Problem) {
    let sample = FileVersion(path: "name", size: 1, modified: 1)
    let job = try FolderUploads(id: 0, folder).job(sample)
    let spec = try await intake.validation(for: caller).spec(job)
    try intake.network.check(spec.userURLs, of: caller.uid)
    do throws(StoreError) {
      try await store.checkDependencies(of: spec, in: caller.scope)
    } catch {
      throw Problem(error)
    }
  }

  func list(in scope: Scope) async throws -> [WatchedFolder] {
    var folders: [WatchedFolder] = []
    for stored in try await store.folders(in: scope) {
      var folder = stored.folder
      folder.error = await watchers[folder.id]?.error
      folders.append(folder)
    }
    return folders
  }

  /// Its jobs stay.
  func remove(_ id: Int64, in scope: Scope) async throws {
    guard try await store.removeFolder(id, in: scope) else { throw Problem(.notFound, "no folder \(id)") }
    await watchers.removeValue(forKey: id)?.stop()
  }
}

import FoundationEssentials
import Glibc
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine

/// Uploads what lands in one directory. It scans the directory at the start, after the kernel has reported a change, and when
/// a file may have settled; at most a tenth of the time. In between nothing runs.
actor FolderWatcher {
  private let stored: Store.StoredFolder
  private let uploads: FolderUploads
  private let store: Store
  private let intake: JobIntake
  private let caller: Caller
  private let logger: Logger
  /// How many files the folders of members may have together; `nil`: the folder belongs to the daemon's user or to root.
  private let shared: FileBudget?
  private var table: SettleTable
  private var needsBaseline: Bool
  private var loop: Task<Void, Never>?
  /// Why the directory cannot be watched, or why the newest file was refused.
  private(set) var error: String?
  /// The newest version that was refused, and why.
  private var refusal: (version: FileVersion, detail: String)?
  /// The directory of the newest scan; `nil`: there was none.
  private var directory: DirectoryIdentity?
  /// Keeps the files of the newest scan counted in the budget.
  private var lease: FileBudget.Lease?
  /// When versions of files that have gone were last forgotten.
  private var lastForgotten: ContinuousClock.Instant?
  /// How long the newest scan took, without the adds.
  private var scanTime = Duration.zero

  /// Files that are added together.
  private static let step = 200
  /// Time until the next scan if the directory cannot be read or watched.
  private static let retryDelay = Duration.seconds(30)
  private static let day = Duration.seconds(86400)
  /// Time between two checks that the path leads to the same directory: the kernel reports neither a mount over it nor a new
  /// name of a directory above it.
  private static let pathInterval = Duration.seconds(60)
  /// Events that come together are one.
  private static let shortestPause = Duration.milliseconds(100)

  init(
    _ stored: Store.StoredFolder, _ uploads: FolderUploads, _ store: Store, _ intake: JobIntake,
    shared: FileBudget? = nil, _ logger: Logger
  ) {
    self.shared = shared
    self.stored = stored
    self.uploads = uploads
    self.store = store
    self.intake = intake
    self.logger = logger
    caller = Caller(uid: stored.folder.owner, daemon: geteuid())
    table = SettleTable(settle: .seconds(stored.folder.folder.settle ?? NewFolder.standardSettle))
    needsBaseline = stored.needsBaseline
  }

  func start() {
    guard loop == nil else { return }
    loop = Task { await self.run() }
  }

  func stop() {
    loop?.cancel()
    loop = nil
  }

  private func run() async {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let events = DirectoryEvents { signal.yield() }
    if events == nil { logger.warning("cannot watch a folder; it is scanned every 30 s", metadata: metadata) }
    signal.yield()
    var alarm: Task<Void, Never>?
    defer { alarm?.cancel() }
    for await _ in signals {
      alarm?.cancel()
      let next = await scanOnce(events)
      if Task.isCancelled { return }
      alarm = Task {
        do { try await wait(for: next) } catch { return }
        signal.yield()
      }
      let pause = max(Self.shortestPause, scanTime * 9)
      do { try await Task.pause(for: pause) } catch { return }
    }
  }

  private var metadata: Logger.Metadata {
    ["folder": "\(stored.folder.id)", "directory": "\(uploads.folder.directory)"]
  }

  /// Waits for a time, or until the path of the folder leads to another directory.
  private func wait(for time: Duration?) async throws {
    var rest = time
    while true {
      let pause = min(rest ?? Self.pathInterval, Self.pathInterval)
      try await Task.pause(for: pause)
      if let left = rest {
        guard left > pause else { return }
        rest = left - pause
      }
      if await leadsElsewhere() { return }
    }
  }

  private func leadsElsewhere() async -> Bool {
    guard let directory else { return false }
    let path = uploads.folder.directory
    return await BlockingWork.run { DirectoryIdentity(path: path) != directory }
  }

  /// Scans the directory once, and adds what has settled.
  /// - Returns: the time until the next scan, unless something changes before; `nil`: none is needed.
  private func scanOnce(_ events: DirectoryEvents?) async -> Duration? {
    let (folder, rules) = (uploads.folder, intake.paths.rules(for: caller.uid, .write))
    let begin = ContinuousClock.now
    lease = nil
    let budget = shared ?? FileBudget(FolderScan.maximumFiles)
    let scanned = await BlockingWork.run {
      var isWatched = events != nil
      let result = Result { () throws(TransferError) in
        try FolderScan.scan(folder.directory, rules: rules, recursive: folder.recursive, budget: budget) { directory in
          if events?.watch(directory) == false { isWatched = false }
        }
      }
      return (result: result, isWatched: isWatched)
    }
    scanTime = begin.duration(to: .now)
    let scan: FolderScan
    switch scanned.result {
    case .success(let files): scan = files
    case .failure(let failure):
      directory = nil
      report("cannot scan \(folder.directory): \(failure)")
      return Self.retryDelay
    }
    directory = scan.directory
    lease = scan.lease
    describe(scan, isWatched: scanned.isWatched)
    do {
      try await baseline(scan)
      try await forgetKnown(scan)
      table.update(scan.files, now: .now)
      try await addSettled()
      try await forgetGone(scan)
    } catch {
      if error == .closed { return nil }
      report("\(error)")
      return Self.retryDelay
    }
    let next = table.nextScan(after: .now)
    let isReported = scanned.isWatched && !scan.isRemote
    return isReported ? next : min(next ?? Self.retryDelay, Self.retryDelay)
  }

  /// Sets ``error`` after a scan.
  private func describe(_ scan: FolderScan, isWatched: Bool) {
    if let version = refusal?.version, !scan.files.contains(where: { $0.version == version }) { refusal = nil }
    let directory = uploads.folder.directory
    if scan.isIncomplete {
      let number =
        shared == nil ? "\(FolderScan.maximumFiles) files" : "\(Folders.filesOfMembers) files with other folders"
      report("\(directory) has more than \(number), or is too deep; the rest is passed over")
    } else if !isWatched {
      report("the kernel watches no more directories (fs.inotify.max_user_watches); it is scanned every 30 s")
    } else if let refusal {
      report(refusal.detail)
    } else if scan.unusableNames > 0 {
      report("\(scan.unusableNames) names in \(directory) are not UTF-8; they are passed over")
    } else {
      error = nil
    }
  }

  private func report(_ text: String) {
    guard error != text else { return }
    error = text
    var metadata = metadata
    metadata["reason"] = "\(text)"
    logger.warning("a watched folder has a problem", metadata: metadata)
  }

  /// With `newOnly`: notes the files that were there before the folder was added.
  private func baseline(_ scan: FolderScan) async throws(StoreError) {
    guard needsBaseline else { return }
    let created = stored.folder.createdAt.timeIntervalSince1970 * 1e9
    // checked: Doubles do not trap
    let old = scan.files.filter { Double($0.changed) <= created }.map(\.version)
    for step in stride(from: 0, to: old.count, by: Self.step) {
      let versions = old[step..<min(step + Self.step, old.count)]  // checked: within the array
      guard try await store.note(versions.map { (version: $0, job: JobID?.none) }, of: stored.folder.id) else {
        throw .closed
      }
    }
    table.handle(old)
    try await store.endBaseline(of: stored.folder.id)
    needsBaseline = false
  }

  /// Versions that an earlier run has handled do not wait.
  private func forgetKnown(_ scan: FolderScan) async throws(StoreError) {
    let unknown = table.unknown(in: scan.files)
    for step in stride(from: 0, to: unknown.count, by: Self.step * 10) {
      let versions = Array(unknown[step..<min(step + Self.step * 10, unknown.count)])  // checked: within the array
      table.handle(try await store.knownVersions(versions, of: stored.folder.id))
    }
  }

  /// Once a day: forgets versions whose files have been gone for long.
  private func forgetGone(_ scan: FolderScan) async throws(StoreError) {
    guard !scan.isIncomplete, lastForgotten.map({ $0.duration(to: .now) >= Self.day }) ?? true else { return }
    lastForgotten = .now
    let present = Set(scan.files.map(\.version))
    try await store.forgetGoneVersions(of: stored.folder.id, present: present, now: Date())
    table.forgetHandled(except: present)
  }

  private func addSettled() async throws(StoreError) {
    let settled = table.settled(at: .now)
    let (path, rules) = (uploads.folder.directory, intake.paths.rules(for: caller.uid, .write))
    for step in stride(from: 0, to: settled.count, by: Self.step) {
      if Task.isCancelled { return }
      let versions = Array(settled[step..<min(step + Self.step, settled.count)])  // checked: within the array
      let states = await BlockingWork.run { () -> [FolderUploads.Readiness] in
        guard let directory = try? Directory.open(path, rules: rules) else { return versions.map { _ in .changed } }
        return versions.map { FolderUploads.readiness(of: $0, in: directory) }
      }
      var ready: [FileVersion] = []
      for (version, state) in zip(versions, states) {
        // The next scan sees a file that has changed.
        if state == .ready { ready.append(version) } else { table.postpone(version, now: .now) }
      }
      try await add(ready)
    }
  }

  private func add(_ versions: [FileVersion]) async throws(StoreError) {
    guard !versions.isEmpty else { return }
    let results = await intake.submit(versions.map { .success(uploads.job($0)) }, from: caller)
    var added: [(version: FileVersion, job: JobID?)] = []
    for (version, result) in zip(versions, results) {
      switch result {
      case .success(let submission): added.append((version, submission.id))
      case .failure(let problem): refuse(version, problem)
      }
    }
    guard !added.isEmpty else { return }
    // Durable before it is forgotten; a kill before this adds nothing twice, because the jobs have keys.
    guard try await store.note(added, of: stored.folder.id) else { throw .closed }
    table.handle(added.map(\.version))
    logger.info("added uploads of a folder", metadata: metadata.merging(["jobs": "\(added.count)"]) { $1 })
  }

  private func refuse(_ version: FileVersion, _ problem: Problem) {
    switch problem.code {
    // It is gone: the next scan sees that.
    case .sourceMissing: table.postpone(version, now: .now)
    case .unavailable, .diskFull, .internal:
      table.postpone(version, now: .now)
      report(problem.detail)
    default:
      // The same file would be refused again; the next start of the daemon tries it once more.
      report(problem.detail)
      refusal = (version, problem.detail)
      table.handle([version])
    }
  }
}

import Store

/// Which versions of files have not changed for long enough. Pure: files and times are passed in.
struct SettleTable {
  /// 128 bits of a version: much less memory than its path.
  private struct Fingerprint: Hashable {
    let one: Int
    let other: Int

    init(_ version: FileVersion) {
      var (one, other) = (Hasher(), Hasher())
      one.combine(version)
      other.combine(0)
      other.combine(version)
      (self.one, self.other) = (one.finalize(), other.finalize())
    }
  }

  private struct Pending {
    var version: FileVersion
    var since: ContinuousClock.Instant
  }

  /// How long size and time must not change.
  let settle: Duration
  /// By the bytes of the path: names that look the same may be two files.
  private var pending: [[UInt8]: Pending] = [:]
  /// Versions that are uploaded or passed over.
  private var handled: Set<Fingerprint> = []

  init(settle: Duration) { self.settle = settle }

  /// Files that wait.
  var count: Int { pending.count }

  /// The versions about which nothing is known yet.
  func unknown(in files: [FolderScan.File]) -> [FileVersion] {
    files.map(\.version).filter { pending[Array($0.path.utf8)]?.version != $0 && !handled.contains(Fingerprint($0)) }
  }

  /// These versions are uploaded or passed over.
  mutating func handle(_ versions: some Sequence<FileVersion>) {
    for version in versions {
      handled.insert(Fingerprint(version))
      let path = Array(version.path.utf8)
      if pending[path]?.version == version { pending[path] = nil }
    }
  }

  /// Frees the memory for versions that are not there any more. If one comes back, the database knows it.
  mutating func forgetHandled(except present: Set<FileVersion>) {
    handled.formIntersection(present.map(Fingerprint.init))
  }

  /// Takes a scan into account: a version that was not seen before begins to wait, and files that are gone do not wait.
  mutating func update(_ files: [FolderScan.File], now: ContinuousClock.Instant) {
    var waiting: [[UInt8]: Pending] = [:]
    for file in files where !handled.contains(Fingerprint(file.version)) {
      let path = Array(file.version.path.utf8)
      if let known = pending[path], known.version == file.version {
        waiting[path] = known
      } else {
        waiting[path] = Pending(version: file.version, since: now)
      }
    }
    pending = waiting
  }

  /// The versions that have settled, by path.
  func settled(at now: ContinuousClock.Instant) -> [FileVersion] {
    pending.values.filter { $0.since.duration(to: now) >= settle }.map(\.version).sorted { $0.path < $1.path }
  }

  /// A version begins to wait again: a program still has the file open for writing, or the daemon could not take it.
  mutating func postpone(_ version: FileVersion, now: ContinuousClock.Instant) {
    let path = Array(version.path.utf8)
    if pending[path]?.version == version { pending[path]?.since = now }
  }

  /// The time until the next version may have settled; `nil`: nothing waits.
  func nextScan(after now: ContinuousClock.Instant) -> Duration? {
    pending.values.map(\.since).min().map { max(.zero, settle - $0.duration(to: now)) }
  }
}

import CLinux
import Glibc
import Synchronization
import Threads
import WireValues

/// `syncfs(2)` with a bound: it also writes the data of other programs, and cannot be interrupted.
enum FileSystemSync {
  enum Outcome: Sendable {
    case synced
    /// A write to the file system failed, of any file.
    case failed(errno: Int32)
    /// The call takes longer than the bound; it continues on its own thread.
    case late
  }

  /// The longest wait for one call.
  private static let maximumSeconds = 2
  private static let threads = BlockingThreadPool("transfer-syncfs", maximum: 4)
  /// Calls that took longer than the bound and have not returned yet.
  private static let lateCalls = Atomic(0)

  /// Whether `syncfs` syncs what `fdatasync` would, reports failed writes, and no earlier call is late. FUSE and network
  /// file systems are excluded: the kernel does not pass `syncfs` on to all of them. So is tmpfs, where a sync has nothing
  /// to do.
  static func isSupported(in directory: Directory) -> Bool {
    isReportingErrors && lateCalls.load(ordering: .acquiring) == 0
      && types.contains(linux_file_system_type(directory.descriptor))
  }

  /// ext2, ext3 and ext4, XFS, Btrfs (statfs(2)).
  private static let types: Set<Int64> = [0xEF53, 0x5846_5342, 0x9123_683E]

  /// Linux 5.8 or later (syncfs(2)).
  private static let isReportingErrors: Bool = {
    var system = utsname()
    guard uname(&system) == 0 else { return false }
    let release = withUnsafeBytes(of: system.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return isReportingErrors(release: release)
  }()

  /// - Parameter release: `major.minor…` of uname(2).
  static func isReportingErrors(release: String) -> Bool {
    let numbers = release.split(whereSeparator: { !("0"..."9").contains($0) }).prefix(2)
      .map { CheckedNumber(digits: $0).value(in: 0...100_000) ?? 0 }
    return numbers.count == 2 && (numbers[0] > 5 || numbers[0] == 5 && numbers[1] >= 8)
  }

  private enum Progress { case running, abandoned, ended(Outcome) }

  /// Syncs the file system of several files. Blocks until the call ends, or until the bound.
  /// - Parameter first: the file that was opened first. A descriptor learns once of failed writes since it was opened
  ///   (syncfs(2)); that of the directory, which earlier files had too, may have learned in a call that was late.
  static func perform(openedFirst first: PartialFile) -> Outcome {
    let progress = Monitor(Progress.running)
    threads.start {
      let code = first.synchronizeFileSystem()
      let wasAbandoned = progress.withLock { state in
        defer { state = .ended(code == 0 ? .synced : .failed(errno: code)) }
        if case .abandoned = state { return true }
        return false
      }
      if wasAbandoned { lateCalls.subtract(1, ordering: .releasing) } else { progress.signal() }
    }
    return progress.wait(
      seconds: maximumSeconds,
      until: { if case .ended(let outcome) = $0 { outcome } else { nil } },
      expired: { state in
        state = .abandoned
        lateCalls.add(1, ordering: .releasing)
        return .late
      })
  }
}

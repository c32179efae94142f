import Synchronization
import TransferEngine

/// How many entries and pages a listing may still read: a server that invents them without end would fill the disk.
final class EntryBudget: Sendable {
  static let standard = 10_000_000

  private let maximum: Int
  private let left: Mutex<Int>

  init(_ maximum: Int = EntryBudget.standard) {
    self.maximum = maximum
    left = Mutex(maximum)
  }

  /// - Throws: `.response(.malformed)` if fewer are left; then none is.
  func spend(_ count: Int) throws(TransferError) {
    let isEnough = left.withLock { left in
      let (rest, overflow) = left.subtractingReportingOverflow(count)
      left = overflow || rest < 0 ? -1 : rest
      return left >= 0
    }
    guard !isEnough else { return }
    throw .response(
      .malformed("the directory has more than \(maximum) entries; list a directory below it, or use --max-depth"))
  }

  /// More was asked for than was left.
  var isSpent: Bool { left.withLock { $0 < 0 } }
}

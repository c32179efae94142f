import Synchronization

/// How many files the scans of one or more folders may keep in memory.
final class FileBudget: Sendable {
  private let rest: Mutex<Int>

  init(_ files: Int) { rest = Mutex(files) }

  /// Begins to count the files of one scan.
  func lease() -> Lease { Lease(self) }

  /// The files of one scan. They are given back when the last reference to it goes, however the scan or its folder ends.
  final class Lease: Sendable {
    private let budget: FileBudget
    private let taken = Mutex(0)

    fileprivate init(_ budget: FileBudget) { self.budget = budget }

    deinit {
      let files = taken.withLock { $0 }
      budget.rest.withLock { $0 += files }  // checked: what was taken from it
    }

    /// - Returns: `false` if there is no room for another file.
    func take() -> Bool {
      let hasRoom = budget.rest.withLock { rest in
        guard rest > 0 else { return false }
        rest -= 1  // checked: it was more than nothing
        return true
      }
      if hasRoom { taken.withLock { $0 += 1 } }  // checked: at most the budget
      return hasRoom
    }
  }
}

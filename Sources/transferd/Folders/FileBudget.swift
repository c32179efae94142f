import Synchronization

/// How many files the looks at one or more folders may keep in memory.
final class FileBudget: Sendable {
  private let rest: Mutex<Int>

  init(_ files: Int) { rest = Mutex(files) }

  /// - Returns: `false` if there is no room for another file.
  func take() -> Bool {
    rest.withLock { rest in
      guard rest > 0 else { return false }
      rest -= 1  // checked: it was more than nothing
      return true
    }
  }

  /// Gives back what was taken for files that are not kept any more.
  func giveBack(_ files: Int) {
    rest.withLock { $0 += files }  // checked: at most what was taken
  }
}

import Synchronization

/// The requests of a group that wait for the same work, by directory. One task at a time does the work in a directory.
/// It then handles the requests that arrived meanwhile. A directory that does not respond delays only its own requests.
final class DirectoryQueue<Key: Hashable & Sendable, Member: Sendable>: Sendable {
  /// The requests that wait, for each directory in which work is done.
  private let waiting = Mutex<[Key: [Member]]>([:])

  /// - Returns: whether the caller must start to work.
  func add(_ members: [Member], in directory: Key) -> Bool {
    waiting.withLock { waiting in
      let isWorking = waiting[directory] != nil
      waiting[directory, default: []].append(contentsOf: members)
      return !isWorking
    }
  }

  /// The next requests, in the order of their arrival; `nil` if none waits, and the work has ended.
  func next(_ maximum: Int, in directory: Key) -> [Member]? {
    waiting.withLock { waiting in
      guard let members = waiting[directory], !members.isEmpty else {
        waiting[directory] = nil
        return nil
      }
      waiting[directory] = Array(members.dropFirst(maximum))
      return Array(members.prefix(maximum))
    }
  }
}

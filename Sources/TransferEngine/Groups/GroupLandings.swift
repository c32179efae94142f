import Synchronization

/// The downloads of a group that have arrived and wait for their landing, by directory. One landing runs at a time in a
/// directory; the downloads that arrive meanwhile are the next one. A directory that does not respond delays only its own
/// downloads.
final class GroupLandings: Sendable {
  /// The downloads that wait, for each directory in which a landing runs.
  private let waiting = Mutex<[DirectoryIdentity: [GroupMember]]>([:])

  /// - Returns: whether the caller must start to work.
  func add(_ members: [GroupMember], in directory: DirectoryIdentity) -> Bool {
    waiting.withLock { waiting in
      let isWorking = waiting[directory] != nil
      waiting[directory, default: []].append(contentsOf: members)
      return !isWorking
    }
  }

  /// The downloads of the next landing, in the order of their arrival; `nil` if none waits.
  func next(_ maximum: Int, in directory: DirectoryIdentity) -> [GroupMember]? {
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

extension DownloadGroupCore {
  /// Gives files that have arrived their names.
  func land(_ members: [GroupMember]) {
    for (directory, members) in Dictionary(grouping: members, by: { $0.directory?.identity }) {
      guard let directory, landings.add(members, in: directory) else { continue }
      Task {
        while let members = self.landings.next(self.limits.landingFiles, in: directory) {
          let outcomes = await GroupLanding(group: self).land(members)
          self.deliver(outcomes)
          if self.transfers.nameFiles(members.count) { self.continueTransfers() }
        }
      }
    }
  }
}

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

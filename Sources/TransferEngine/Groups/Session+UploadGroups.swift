/// Many uploads at once.
extension Session {
  /// Uploads many files. The sequence ends after the last outcome.
  /// - Parameters:
  ///   - uploads: the files, the targets and the protocols.
  ///   - maximumConnections: uploads at once to one origin.
  public func uploads(_ uploads: [GroupUpload], maximumConnections: Int = 8) -> UploadGroup {
    let group = uploadGroup(maximumConnections: maximumConnections)
    group.add(uploads)
    group.finish()
    return group
  }

  /// A group to which uploads can be added at any time, until `finish()`.
  /// - Parameter maximumConnections: uploads at once to one origin.
  public func uploadGroup(maximumConnections: Int = 8) -> UploadGroup {
    UploadGroup(core: UploadGroupCore(self, maximumConnections: max(1, maximumConnections)))
  }
}

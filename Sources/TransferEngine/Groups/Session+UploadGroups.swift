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
  /// - Parameters:
  ///   - maximumConnections: uploads at once to one origin.
  ///   - responded: called with the tags of uploads that the server has accepted, before their outcomes: they use the network
  ///     no longer. One call runs at a time. Not called for uploads that do not stay in the group.
  public func uploadGroup(
    maximumConnections: Int = 8, responded: (@Sendable ([Int]) async -> Void)? = nil
  ) -> UploadGroup {
    UploadGroup(core: UploadGroupCore(self, maximumConnections: max(1, maximumConnections), responded))
  }
}

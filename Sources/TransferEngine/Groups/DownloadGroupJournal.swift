/// Makes the ends of a group's downloads durable. Called from Swift's threads.
public protocol DownloadGroupJournal: Sendable {
  /// All bytes of these files are synced to disk and verified, and they are about to get their names. Called once for each
  /// group of files that ends together. After this returns, a crash may leave each rename undone or done;
  /// `ResumeData.partialFile.identity` identifies the file in both cases.
  /// - Returns: for each file whether it may get its name. A file that may not keeps its part file, and its download fails
  ///   with `DownloadGroup.LostClaim`.
  /// - Throws: nothing was recorded. All these downloads fail with the error as `.hook(.journal, …)`.
  func willRename(_ files: [(tag: Int, data: ResumeData)]) async throws -> [Bool]

  /// All bytes of these downloads have arrived: they use the network no longer, and are not on disk yet. One call runs at a
  /// time. Not called for downloads that do not stay in the group.
  func didFinishTransfer(_ tags: [Int]) async
}

extension DownloadGroupJournal {
  /// Does nothing.
  public func didFinishTransfer(_ tags: [Int]) async {}
}

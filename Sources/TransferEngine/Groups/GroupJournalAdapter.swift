/// Reports the rename of a download that has left its group to the group's journal.
struct GroupJournalAdapter: DownloadJournal {
  let tag: Int
  let journal: any DownloadGroupJournal

  /// The group's journal records no progress.
  func record(_ data: ResumeData) async throws {}

  func willRename(_ data: ResumeData) async throws {
    guard try await journal.willRename([(tag, data)]).first == true else { throw DownloadGroup.LostClaim() }
  }
}

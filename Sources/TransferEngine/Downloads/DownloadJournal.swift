/// Keeps a download's resume data durable while it runs. Called from Swift's threads, one call at a time.
public protocol DownloadJournal: Sendable {
  /// Makes the data durable before it returns. Called first when a file worth resuming begins; at most 1 MiB is
  /// received before that call returns. Then called every 2 s or 64 MiB of progress, after the bytes were synced to
  /// disk.
  func record(_ data: ResumeData) async throws
  /// All bytes are synced to disk and verified. After this returns, a crash may leave the rename undone or done;
  /// `data.partialFile.identity` identifies the file in both cases.
  func willRename(_ data: ResumeData) async throws
}

public import TransferAPI
public import WireValues

/// The action to perform on a file that was transferred.
public struct PendingFileAction: Equatable, Sendable {
  public var job: JobID
  /// The uid of the job's owner: a member's job touches the member's own files only.
  public var owner: UInt32
  public var path: String
  public var action: SuccessAction
  public var stamp: SourceIdentity
  /// The job's own file: the daemon has made it, so it may move it for every owner.
  public var isDownloaded = false
  public var attempts = 0

  public init(job: JobID, owner: UInt32, path: String, action: SuccessAction, stamp: SourceIdentity) {
    self.job = job
    self.owner = owner
    self.path = path
    self.action = action
    self.stamp = stamp
  }
}

extension PendingFileAction {
  init(_ row: inout RowReader) throws {
    job = try row.jobID("job")
    row.subject = "the file action of job \(job)"
    owner = try row.uid("owner")
    path = try row.text("path")
    action = try SuccessAction(parsing: try row.text("action"))
    stamp = SourceIdentity(
      device: UInt64(bitPattern: try row.int64("device")), inode: UInt64(bitPattern: try row.int64("inode")),
      size: try row.int64("size"), modified: try row.int64("modified"))
    isDownloaded = try row.bool("downloaded")
    attempts = try row.int("attempts")
  }
}

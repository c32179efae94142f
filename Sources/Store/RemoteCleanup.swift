public import FoundationEssentials
public import TransferAPI

/// An upload that was cancelled or removed, and of which a server may hold parts. The daemon deletes them there.
public struct RemoteCleanup: Sendable {
  public var id: Int64
  public var job: JobID
  /// Enough of the job to speak with the server.
  public var spec: JobSpec
  public var ledger: Data
  public var attempts: Int
  public var createdAt: Date
}

extension RemoteCleanup {
  /// The columns that `init(_:)` reads.
  static let columns = """
    id, job, owner, source, destination, origin, options, ledger, attempts, created_at, \
    (SELECT substr(data, secret_offset + 1, secret_length) FROM secret WHERE secret.id = remote_cleanup.secret) \
    AS secrets
    """

  init(_ row: inout RowReader) throws {
    id = try row.int64("id")
    row.subject = "remote cleanup \(id)"
    job = try row.jobID("job")
    spec = JobSpec(
      owner: try row.uid("owner"), uploading: try row.text("source"), to: try row.text("destination"),
      origin: try row.text("origin"))
    spec.options = try row.options("options")
    guard let ledger = try row.optionalData("ledger") else { throw StoreError.io("remote cleanup \(id) has no ledger") }
    self.ledger = ledger
    attempts = try row.int("attempts")
    createdAt = try row.date("created_at")
    try row.secrets("secrets")?.fill(&spec)
  }
}

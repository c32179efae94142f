import GRDB
public import TransferAPI

/// What the store could not do, and why. `description` is for people: it names the file or job, and says what to do.
public enum StoreError: Error, Equatable, Sendable {
  case notFound(JobID)
  case noSuchBatch(String)
  /// Several users have a batch of this name, and the caller has none.
  case ambiguousBatch(String, owners: [UInt32])
  /// An unfinished job writes to the same path; `nil`: the caller may not see that job.
  case destinationTaken(path: String, by: JobID?)
  case invalid(InvalidTransition)
  /// The job would wait for its own batch, through other jobs.
  case dependencyCycle(batch: String)
  /// So many jobs wait for the job's batch that a cycle cannot be excluded.
  case tooManyDependents(batch: String)
  /// The job is running: `settle` has to end its attempt first.
  case busy(JobID)
  /// The URL of a running or completed job cannot change.
  case urlChangeNotAllowed(JobID, JobState)
  /// Nothing of the operation was stored. The store stays usable.
  case diskFull(path: String)
  /// A later release has written the database. It was not touched.
  case newerVersion(path: String)
  /// The disk has too little space for the migration of an earlier release's database. It was not touched.
  case noSpaceToMigrate(path: String, neededBytes: Int64, freeBytes: Int64)
  /// The file is no sound database. The store never repairs or deletes it.
  case damaged(path: String, reason: String)
  case readOnly(path: String)
  /// The system or SQLite refused for another reason. Nothing of the operation was stored.
  case io(String)
  case closed
}

extension StoreError: CustomStringConvertible {
  /// `description` with places for the names of fields.
  public var text: FieldText {
    guard case .ambiguousBatch(let name, let owners) = self else { return FieldText(description) }
    let users = owners.map(String.init).joined(separator: ", ")
    return "there are batches \"\(name)\" of the users \(users): repeat the request with \(field: "owner")=UID"
  }

  public var description: String {
    switch self {
    case .notFound(let id): "no job \(id)"
    case .noSuchBatch(let name): "no batch \"\(name)\""
    case .ambiguousBatch: text.description
    case .destinationTaken(let path, nil): "cannot write to \(path): it is in use"
    case .destinationTaken(let path, let id?): "cannot write to \(path): job \(id) is writing there"
    case .invalid(let transition): transition.description
    case .dependencyCycle(let batch):
      "cannot add a job to batch \"\(batch)\" that waits for a job or a batch which waits for that batch: neither would ever"
        + " begin; leave out the dependency, or name another batch"
    case .tooManyDependents(let batch):
      "cannot add a job with dependencies to batch \"\(batch)\": too many jobs wait for that batch; name another batch"
    case .busy(let id): "job \(id) is running"
    case .urlChangeNotAllowed(let id, let state):
      "cannot change the URL of job \(id): it is \(state.rawValue)"
    case .diskFull(let path): "cannot write to \(path): the disk is full; free some space"
    case .newerVersion(let path):
      "cannot use \(path): a newer release of transferd has written it; install that release or name another"
        + " state directory"
    case .noSpaceToMigrate(let path, let needed, let free):
      "cannot bring \(path) to this release's format: that needs \(needed >> 20) MiB of free space on its disk, and"
        + " \(free >> 20) MiB are free; free some space and start transferd again"
    case .damaged(let path, let reason):
      "cannot use \(path): \(reason); it was left as it is: restore it from a backup, or move it and its -wal"
        + " file away to start with an empty queue"
    case .readOnly(let path): "cannot write to \(path): it is read-only; make it writable for this user"
    case .io(let reason): "cannot use the job database: \(reason)"
    case .closed: "the job database is closed"
    }
  }
}

extension StoreError {
  /// The one place where errors of SQLite and of the state machine become the store's.
  init(_ error: any Error, path: String) {
    switch error {
    case let error as StoreError: self = error
    case let error as InvalidTransition: self = .invalid(error)
    case let error as DatabaseError:
      let text = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
      switch error.resultCode {
      case .SQLITE_FULL: self = .diskFull(path: path)
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(path: path, reason: text)
      case .SQLITE_READONLY: self = .readOnly(path: path)
      default: self = .io("\(path): \(text)")
      }
    default: self = .io("\(path): \(error)")
    }
  }
}

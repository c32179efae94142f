/// Version 8: limits of the daemon and of batches.
extension Migrations {
  /// Changes no row. Takes about 2 s for a million queued jobs: one index is built anew, and another one is widened.
  ///
  /// - `daemon_limit`: what `transferctl limit` has set, instead of the configuration; a value that is NULL means no limit.
  /// - `batch`: what `transferctl batch set` has set; NULL: nothing.
  /// - `job_queued_lane` replaces `job_queued_origin`: the jobs of one origin and one batch stand together, so that a search
  ///   passes over a full batch in one step, however many of its jobs wait. The text is `BatchID.lane`.
  static let limits = """
    CREATE TABLE daemon_limit (
      name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
      value TEXT
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE batch ADD COLUMN max_active INTEGER CHECK (max_active > 0);
    ALTER TABLE batch ADD COLUMN limit_rate INTEGER CHECK (limit_rate > 0);
    ALTER TABLE batch ADD COLUMN priority INTEGER;
    CREATE INDEX batch_limited ON batch (name, owner) WHERE max_active IS NOT NULL OR limit_rate IS NOT NULL;
    DROP INDEX job_queued_origin;
    CREATE INDEX job_queued_lane ON job (origin_id, ifnull(owner || ' ' || batch, ''), priority DESC, id)
      WHERE state = 'queued' AND blocked_by IS NULL AND crash_marks < 2 AND waits_until IS NULL;
    DROP INDEX job_retrying;
    CREATE INDEX job_retrying ON job (retry_at, priority, origin_id, ifnull(owner || ' ' || batch, ''))
      WHERE state = 'retrying' AND blocked_by IS NULL AND crash_marks < 2;
    """
}

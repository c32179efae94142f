/// Version 5: sums are written once a transaction, and the row of an attempt when it ends.
extension Migrations {
  /// Changes no row but those of running jobs. Takes about 2 s for a million jobs: one index is built anew.
  ///
  /// - `attempt_started_at`: when the newest attempt began. Its row in `attempt` is written when it ends.
  /// - The triggers that kept the sums and the lines of uploads: `Transaction` does both (`StateSums`, `UploadLine`).
  /// - `job_state`, `job_owner`, `job_batch`: every claim, end and added job changed them, and the indexes by owner or batch and
  ///   state serve the same pages (`JobPageQuery`).
  /// - `job_destination`, `job_upload_destination`: by `finished_at`, which is NULL in exactly the unfinished states. A change
  ///   from one unfinished state to another leaves these indexes alone.
  static let sumsByTransaction = """
    ALTER TABLE job ADD COLUMN attempt_started_at INTEGER;
    UPDATE job INDEXED BY job_state
      SET attempt_started_at = (SELECT started_at FROM attempt WHERE attempt.job = job.id AND number = attempt_number)
      WHERE state = 'running';
    DELETE FROM attempt WHERE ended_at IS NULL AND outcome IS NULL AND EXISTS (
      SELECT 1 FROM job WHERE job.id = attempt.job AND state = 'running' AND attempt_number = attempt.number)
      AND job IN (SELECT id FROM job INDEXED BY job_state WHERE state = 'running');

    DROP TRIGGER job_added;
    DROP TRIGGER job_moved;
    DROP TRIGGER job_removed;
    DROP TRIGGER batch_job_added;
    DROP TRIGGER batch_job_added_with_bytes;
    DROP TRIGGER batch_job_moved;
    DROP TRIGGER batch_job_grew;
    DROP TRIGGER batch_job_removed;
    DROP TRIGGER upload_ended;
    DROP TRIGGER upload_removed;

    DROP INDEX job_state;
    DROP INDEX job_owner;
    DROP INDEX job_batch;
    DROP INDEX job_destination;
    DROP INDEX job_upload_destination;
    CREATE UNIQUE INDEX job_destination ON job (destination)
      WHERE kind = 'download' AND finished_at IS NULL AND substr(destination, -1) <> '/';
    CREATE INDEX job_upload_destination ON job (destination) WHERE kind = 'upload' AND finished_at IS NULL;
    """
}

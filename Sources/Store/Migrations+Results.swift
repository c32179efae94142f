/// Version 7: what completed jobs have done, and which versions of servers' files are at their destinations.
extension Migrations {
  /// Changes no row. Reads the table of the jobs once, and builds one index anew: about 2 s for a million jobs.
  ///
  /// - `job.result`: `unchanged` or `skipped`; NULL for a completed job that has transferred its file, and for jobs that have not
  ///   completed.
  /// - `job.chooses_name`: the job takes another name if its destination exists (`ifExists` with `rename`), so any number of such
  ///   jobs may have the same destination.
  /// - `job.finishing_record`: what will be known of the file that is about to be renamed (`finishing_inode`).
  /// - `event.result`: of the job that completed with this event, as in `job`.
  /// - `result_count`: the completed jobs of a batch whose result is not `transferred`; the batch '' stands for all jobs of the
  ///   owner. A transaction collects its changes (`StateSums`).
  /// - `file_record`: the engine's record of a file that a job with `ifChanged` has fetched or found unchanged. It outlives its
  ///   job. `url` has no secrets. `used_at` is exact to a day.
  static let results = """
    ALTER TABLE job ADD COLUMN result TEXT CHECK (result = 'unchanged' OR result = 'skipped');
    ALTER TABLE job ADD COLUMN chooses_name INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE job ADD COLUMN finishing_record BLOB;
    ALTER TABLE event ADD COLUMN result TEXT;
    DROP INDEX job_destination;
    CREATE UNIQUE INDEX job_destination ON job (destination)
      WHERE kind = 'download' AND finished_at IS NULL AND chooses_name = 0 AND substr(destination, -1) <> '/';

    CREATE TABLE result_count (
      batch TEXT NOT NULL,
      owner INTEGER NOT NULL,
      result TEXT NOT NULL CHECK (result = 'unchanged' OR result = 'skipped'),
      jobs INTEGER NOT NULL DEFAULT 0 CHECK (jobs >= 0),
      PRIMARY KEY (batch, owner, result)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE file_record (
      path TEXT NOT NULL,
      url TEXT NOT NULL,
      owner INTEGER NOT NULL,
      record BLOB NOT NULL,
      used_at INTEGER NOT NULL,
      PRIMARY KEY (path, url, owner)
    ) STRICT, WITHOUT ROWID;
    """
}

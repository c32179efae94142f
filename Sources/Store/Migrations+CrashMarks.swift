/// Version 3: crashes of the daemon are counted against the jobs that ran.
extension Migrations {
  /// - `crash_marks`: how often the daemon crashed while an attempt of the job was under way, since an attempt last ended by itself.
  ///   A job with two or more is not among the ordinary candidates: it runs alone.
  static let crashMarks = """
    ALTER TABLE job ADD COLUMN crash_marks INTEGER NOT NULL DEFAULT 0 CHECK (crash_marks >= 0);

    DROP INDEX job_queued;
    DROP INDEX job_queued_origin;
    DROP INDEX job_retrying;
    CREATE INDEX job_queued ON job (priority DESC, id, origin_id)
      WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2;
    CREATE INDEX job_queued_origin ON job (origin_id, priority DESC, id)
      WHERE state = 'queued' AND follows IS NULL AND crash_marks < 2;
    CREATE INDEX job_retrying ON job (retry_at, priority, origin_id)
      WHERE state = 'retrying' AND follows IS NULL AND crash_marks < 2;
    CREATE INDEX job_marked ON job (priority DESC, id) WHERE crash_marks >= 2;
    """
}

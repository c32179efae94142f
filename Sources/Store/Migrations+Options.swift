import GRDB

/// Version 4: the options of a job are one value, and names of tables and columns are the usual ones.
extension Migrations {
  /// Replaces the table of the jobs by a new one, in one transaction. Takes about 20 s for a million jobs.
  ///
  /// The steps are those that SQLite documents for changes that ALTER TABLE cannot make:
  /// https://sqlite.org/lang_altertable.html#otheralter. The migrator switches foreign keys off meanwhile, and checks
  /// all of them before it commits.
  static func moveOptions(_ db: Database) throws {
    try db.execute(sql: jobTable)
    try db.execute(sql: copyJobs)
    try db.execute(sql: replaceJobTable)
    try db.execute(sql: jobIndexes)
    try db.execute(sql: jobTriggers)
    try db.execute(sql: remoteCleanupTable)
    try db.execute(sql: "ALTER TABLE file_action RENAME COLUMN tries TO attempts")
  }

  /// Only what SQL selects or orders by has a column of its own.
  ///
  /// - `options`: `JobOptions` in JSON, without secrets; NULL if every option has its default.
  /// - `blocked_by`: the unfinished upload to the same URL that goes first. At most one upload is blocked by another, so that
  ///   they form a line. A blocked job is no candidate.
  /// - `spool`: the token of the daemon's own copy of content from standard input.
  /// - `action_…`: the action on the file of a completed upload.
  /// - `crashes`: number of consecutive unexpected ends of the daemon while the job ran.
  /// - `crash_marks`: how often the daemon crashed while an attempt of the job was under way, since an attempt last ended by
  ///   itself. A job with two or more is not among the ordinary candidates: it runs alone.
  /// - `secret…`: where the job's secrets are stored in `secret`; all NULL if it has none.
  private static let jobTable = """
    CREATE TABLE new_job (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      owner INTEGER NOT NULL CHECK (owner >= 0 AND owner <= 4294967295),
      kind TEXT NOT NULL CHECK (kind = 'download' OR kind = 'upload'),
      state TEXT NOT NULL CHECK (
        state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused'
        OR state = 'completed' OR state = 'failed' OR state = 'cancelled'),
      source TEXT NOT NULL CHECK (source <> ''),
      destination TEXT NOT NULL CHECK (destination <> ''),
      origin_id INTEGER NOT NULL REFERENCES origin (id),
      options TEXT,
      batch TEXT,
      key TEXT,
      priority INTEGER NOT NULL,
      spool TEXT,
      blocked_by INTEGER CHECK (blocked_by <> id),
      bytes_done INTEGER NOT NULL DEFAULT 0 CHECK (bytes_done >= 0),
      bytes_total INTEGER CHECK (bytes_total >= 0),
      attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
      attempt_number INTEGER NOT NULL DEFAULT 0 CHECK (attempt_number >= attempt),
      fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
      part_token TEXT NOT NULL CHECK (length(part_token) = 8),
      resume_data BLOB,
      finishing_device INTEGER,
      finishing_inode INTEGER,
      crashes INTEGER NOT NULL DEFAULT 0 CHECK (crashes >= 0),
      crash_marks INTEGER NOT NULL DEFAULT 0 CHECK (crash_marks >= 0),
      retry_at INTEGER,
      retry_delay INTEGER NOT NULL DEFAULT 0 CHECK (retry_delay >= 0),
      created_at INTEGER NOT NULL,
      started_at INTEGER,
      finished_at INTEGER,
      error_code TEXT,
      error_message TEXT,
      error_status INTEGER,
      error_transient INTEGER CHECK (error_transient IN (0, 1)),
      action_state TEXT CHECK (action_state = 'pending' OR action_state = 'done' OR action_state = 'failed'),
      action_message TEXT,
      secret INTEGER,
      secret_offset INTEGER,
      secret_length INTEGER,
      FOREIGN KEY (batch, owner) REFERENCES batch (name, owner),
      CHECK ((finishing_device IS NULL) = (finishing_inode IS NULL)),
      CHECK ((state = 'retrying') = (retry_at IS NOT NULL)),
      CHECK (
        (state = 'completed' OR state = 'failed' OR state = 'cancelled') = (finished_at IS NOT NULL)),
      CHECK (state <> 'running' OR (started_at IS NOT NULL AND attempt > 0)),
      CHECK ((error_code IS NULL) = (error_message IS NULL)),
      CHECK ((error_code IS NULL) = (error_transient IS NULL)),
      CHECK ((state <> 'failed' AND state <> 'cancelled') OR error_code IS NOT NULL),
      CHECK (state <> 'completed' OR (error_code IS NULL AND resume_data IS NULL)),
      CHECK (state <> 'cancelled' OR (bytes_done = 0 AND resume_data IS NULL))
    ) STRICT;
    """

  /// What version 3 held in JSON, with the fields of uploads beside the others. `json_patch` leaves out what is null. A text
  /// that is no JSON stays as it is: the job cannot be read, before and after.
  private static func options(besides columns: String) -> String {
    """
    CASE WHEN options IS NULL THEN \(columns)
      WHEN NOT json_valid(options) THEN options
      ELSE json_patch(json_patch(json_remove(options, '$.upload'), COALESCE(json_extract(options, '$.upload'), '{}')),
        \(columns)) END
    """
  }

  private static let copyJobs = """
    INSERT INTO new_job (
      id, owner, kind, state, source, destination, origin_id, options,
      batch, key, priority, spool, blocked_by, bytes_done, bytes_total, attempt, attempt_number, fence, part_token,
      resume_data, finishing_device, finishing_inode, crashes, crash_marks, retry_at, retry_delay, created_at,
      started_at, finished_at, error_code, error_message, error_status, error_transient, action_state,
      action_message, secret, secret_offset, secret_length)
    SELECT
      id, owner, kind, state, source, destination, origin_id,
      \(options(
        besides: """
          json_patch('{}', json_object(
            'maxAttempts', max_attempts, 'limitRate', limit_rate, 'connectTimeout', connect_timeout,
            'stallTimeout', stall_timeout, 'checksum', checksum,
            'replace', json(CASE WHEN replace THEN 'true' END),
            'createDirectories', json(CASE WHEN create_directories THEN 'true' END),
            'nameFromResponse', json(CASE WHEN name_from_response THEN 'true' END)))
          """)),
      batch, key, priority, spool, follows, bytes_done, bytes_total, attempt, attempt_number, fence, part_token,
      resume_data, finishing_device, finishing_inode, crashes, crash_marks, retry_at, retry_delay, created_at,
      started_at, finished_at, error_code, error_message, error_status, error_transient, action_state,
      action_message, secret, secret_offset, secret_length
    FROM job ORDER BY id;
    """

  /// Ids of removed jobs are never used again: the counter moves along. The indexes and triggers go with the old table.
  private static let replaceJobTable = """
    DELETE FROM sqlite_sequence WHERE name = 'new_job';
    INSERT INTO sqlite_sequence (name, seq) SELECT 'new_job', seq FROM sqlite_sequence WHERE name = 'job';
    DROP TABLE job;
    ALTER TABLE new_job RENAME TO job;
    """

  private static let jobIndexes = """
    CREATE UNIQUE INDEX job_key ON job (key, owner) WHERE key IS NOT NULL;
    CREATE UNIQUE INDEX job_destination ON job (destination)
      WHERE kind = 'download'
        AND (state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused')
        AND substr(destination, -1) <> '/';
    CREATE INDEX job_upload_destination ON job (destination)
      WHERE kind = 'upload'
        AND (state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused');
    CREATE UNIQUE INDEX job_blocked_by ON job (blocked_by) WHERE blocked_by IS NOT NULL;
    CREATE UNIQUE INDEX job_spool ON job (spool) WHERE spool IS NOT NULL;
    CREATE INDEX job_queued ON job (priority DESC, id, origin_id)
      WHERE state = 'queued' AND blocked_by IS NULL AND crash_marks < 2;
    CREATE INDEX job_queued_origin ON job (origin_id, priority DESC, id)
      WHERE state = 'queued' AND blocked_by IS NULL AND crash_marks < 2;
    CREATE INDEX job_retrying ON job (retry_at, priority, origin_id)
      WHERE state = 'retrying' AND blocked_by IS NULL AND crash_marks < 2;
    -- When the retry was planned: later than now only if the clock was set back.
    CREATE INDEX job_postponed ON job (retry_at - retry_delay) WHERE state = 'retrying';
    CREATE INDEX job_marked ON job (priority DESC, id) WHERE crash_marks >= 2;
    CREATE INDEX job_state ON job (state);
    CREATE INDEX job_owner ON job (owner);
    CREATE INDEX job_owner_state ON job (owner, state);
    CREATE INDEX job_batch ON job (batch, owner) WHERE batch IS NOT NULL;
    CREATE INDEX job_batch_state ON job (batch, owner, state) WHERE batch IS NOT NULL;
    CREATE INDEX job_batch_failed ON job (batch, owner, error_code) WHERE batch IS NOT NULL AND state = 'failed';
    """

  /// The triggers of versions 1 to 3, for the new table.
  private static let jobTriggers = """
    CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
      INSERT INTO state_count (batch, owner, state, jobs) VALUES ('', NEW.owner, NEW.state, 1)
        ON CONFLICT (batch, owner, state) DO UPDATE SET jobs = jobs + 1;
    END;

    CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN NEW.state <> OLD.state BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = '' AND owner = OLD.owner AND state = OLD.state;
      INSERT INTO state_count (batch, owner, state, jobs) VALUES ('', NEW.owner, NEW.state, 1)
        ON CONFLICT (batch, owner, state) DO UPDATE SET jobs = jobs + 1;
    END;

    CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = '' AND owner = OLD.owner AND state = OLD.state;
    END;

    CREATE TRIGGER batch_job_added AFTER INSERT ON job WHEN NEW.batch IS NOT NULL BEGIN
      UPDATE state_count SET jobs = jobs + 1 WHERE batch = NEW.batch AND owner = NEW.owner AND state = NEW.state;
    END;

    CREATE TRIGGER batch_job_added_with_bytes AFTER INSERT ON job
      WHEN NEW.batch IS NOT NULL AND (NEW.bytes_done > 0 OR NEW.bytes_total > 0)
    BEGIN
      UPDATE batch SET bytes_done = bytes_done + NEW.bytes_done,
        bytes_total = bytes_total + COALESCE(NEW.bytes_total, 0)
        WHERE name = NEW.batch AND owner = NEW.owner;
    END;

    CREATE TRIGGER batch_job_moved AFTER UPDATE OF state ON job
      WHEN NEW.batch IS NOT NULL AND NEW.state <> OLD.state
    BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = NEW.batch AND owner = NEW.owner AND state = OLD.state;
      UPDATE state_count SET jobs = jobs + 1 WHERE batch = NEW.batch AND owner = NEW.owner AND state = NEW.state;
    END;

    CREATE TRIGGER batch_job_grew AFTER UPDATE OF bytes_done, bytes_total ON job
      WHEN NEW.batch IS NOT NULL
        AND (NEW.bytes_done <> OLD.bytes_done OR NEW.bytes_total IS NOT OLD.bytes_total)
    BEGIN
      UPDATE batch SET bytes_done = bytes_done + NEW.bytes_done - OLD.bytes_done,
        bytes_total = bytes_total + COALESCE(NEW.bytes_total, 0) - COALESCE(OLD.bytes_total, 0)
        WHERE name = NEW.batch AND owner = NEW.owner;
    END;

    CREATE TRIGGER batch_job_removed AFTER DELETE ON job WHEN OLD.batch IS NOT NULL BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = OLD.batch AND owner = OLD.owner AND state = OLD.state;
      UPDATE batch SET bytes_done = bytes_done - OLD.bytes_done,
        bytes_total = bytes_total - COALESCE(OLD.bytes_total, 0)
        WHERE name = OLD.batch AND owner = OLD.owner;
    END;

    CREATE TRIGGER job_batch_stays BEFORE UPDATE OF batch ON job BEGIN
      SELECT RAISE(ABORT, 'a job stays in its batch');
    END;

    CREATE TRIGGER job_owner_stays BEFORE UPDATE OF owner ON job BEGIN
      SELECT RAISE(ABORT, 'a job stays with its owner');
    END;

    -- The next upload in the line takes the place of one that leaves it.
    CREATE TRIGGER upload_ended AFTER UPDATE OF state ON job
      WHEN NEW.kind = 'upload' AND NEW.state <> OLD.state
        AND (NEW.state = 'completed' OR NEW.state = 'failed' OR NEW.state = 'cancelled')
    BEGIN
      UPDATE job SET blocked_by = NULL WHERE id = NEW.id AND blocked_by IS NOT NULL;
      UPDATE job SET blocked_by = NEW.blocked_by WHERE blocked_by = NEW.id;
    END;

    CREATE TRIGGER upload_removed AFTER DELETE ON job WHEN OLD.kind = 'upload' BEGIN
      UPDATE job SET blocked_by = OLD.blocked_by WHERE blocked_by = OLD.id;
    END;
    """

  /// Replaces the table `abandonment`. A row is an unfinished upload that must be deleted on its server. The row is
  /// deleted when that is done. There is no foreign key, because the job may be removed earlier.
  private static let remoteCleanupTable = """
    CREATE TABLE remote_cleanup (
      id INTEGER PRIMARY KEY,
      job INTEGER NOT NULL,
      owner INTEGER NOT NULL CHECK (owner >= 0 AND owner <= 4294967295),
      source TEXT NOT NULL,
      destination TEXT NOT NULL,
      origin TEXT NOT NULL,
      options TEXT,
      ledger BLOB NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      created_at INTEGER NOT NULL,
      next_at INTEGER NOT NULL,
      secret INTEGER,
      secret_offset INTEGER,
      secret_length INTEGER
    ) STRICT;
    INSERT INTO remote_cleanup (id, job, owner, source, destination, origin, options, ledger, attempts, created_at,
      next_at, secret, secret_offset, secret_length)
    SELECT id, job, owner, source, destination, origin,
      \(options(besides: "'{}'")),
      ledger, tries, created_at, next_at, secret, secret_offset, secret_length
    FROM abandonment;
    DROP TABLE abandonment;
    CREATE INDEX remote_cleanup_due ON remote_cleanup (next_at);
    """
}

import GRDB

/// The steps from an empty database to the present schema. A released migration never changes: the next one repairs it.
enum Migrations {
  /// `PRAGMA application_id`: "TRFD". Tells our file from any other SQLite database.
  static let applicationID: Int32 = 0x5452_4644
  /// `PRAGMA user_version` after the last migration. A higher number means that a newer release wrote the file.
  static let version: Int32 = 13

  /// - Parameter owner: the daemon's uid.
  static func migrator(owner: UInt32) -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(sql: tables)
      try db.execute(sql: indexes)
      try db.execute(sql: triggers)
      try db.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = 1")
    }
    migrator.registerMigration("2") { db in
      try db.execute(sql: uploadColumns)
      try db.execute(sql: uploadTables)
      try db.execute(sql: uploadTriggers)
      try db.execute(sql: "PRAGMA user_version = 2")
    }
    migrator.registerMigration("3") { db in
      try addOwners(db, owner: owner)
      try db.execute(sql: crashMarks)
      try db.execute(sql: secretTables(owner))
      try moveSecrets(db, path: "the database")
      try db.execute(sql: "PRAGMA user_version = 3")
    }
    migrator.registerMigration("4") { db in
      try moveOptions(db)
      try db.execute(sql: "PRAGMA user_version = 4")
    }
    migrator.registerMigration("5") { db in
      try db.execute(sql: sumsByTransaction)
      try db.execute(sql: "PRAGMA user_version = 5")
    }
    migrator.registerMigration("6") { db in
      try db.execute(sql: times)
      try db.execute(sql: "PRAGMA user_version = 6")
    }
    migrator.registerMigration("7") { db in
      try db.execute(sql: results)
      try db.execute(sql: "PRAGMA user_version = 7")
    }
    migrator.registerMigration("8") { db in
      try db.execute(sql: limits)
      try db.execute(sql: "PRAGMA user_version = 8")
    }
    migrator.registerMigration("9") { db in
      try db.execute(sql: sources)
      try db.execute(sql: "PRAGMA user_version = 9")
    }
    migrator.registerMigration("10") { db in
      try addListings(db)
      try db.execute(sql: "PRAGMA user_version = 10")
    }
    migrator.registerMigration("11") { db in
      try db.execute(sql: schedules)
      try db.execute(sql: "PRAGMA user_version = 11")
    }
    migrator.registerMigration("12") { db in
      try db.execute(sql: downloadActions)
      try db.execute(sql: deliveries)
      try db.execute(sql: folders)
      try db.execute(sql: "PRAGMA user_version = 12")
    }
    migrator.registerMigration("13") { db in
      try addRelays(db)
      try db.execute(sql: "PRAGMA user_version = 13")
    }
    return migrator
  }

  /// Version 1. Times are milliseconds since 1970. CHECKs repeat the promises of the state machine. They are written with OR,
  /// because SQLite builds a temporary tree at each row for an IN of more than two words.
  private static let tables = """
    CREATE TABLE meta (
      name TEXT NOT NULL PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE origin (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE CHECK (name <> ''),
      failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
      blocked_until INTEGER,
      updated_at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE batch (
      name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
      created_at INTEGER NOT NULL,
      -- Sums, kept by triggers. REAL because sizes that servers claim may overflow; exact below 9 PB.
      bytes_done REAL NOT NULL DEFAULT 0,
      bytes_total REAL NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;

    -- Kept by triggers. The batch '' stands for all jobs.
    CREATE TABLE state_count (
      batch TEXT NOT NULL,
      state TEXT NOT NULL,
      jobs INTEGER NOT NULL DEFAULT 0 CHECK (jobs >= 0),
      PRIMARY KEY (batch, state)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE job (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL CHECK (kind = 'download' OR kind = 'upload'),
      state TEXT NOT NULL CHECK (
        state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused'
        OR state = 'completed' OR state = 'failed' OR state = 'cancelled'),
      source TEXT NOT NULL CHECK (source <> ''),
      destination TEXT NOT NULL CHECK (destination <> ''),
      origin_id INTEGER NOT NULL REFERENCES origin (id),
      username TEXT,
      password TEXT,
      replace INTEGER NOT NULL CHECK (replace IN (0, 1)),
      create_directories INTEGER NOT NULL CHECK (create_directories IN (0, 1)),
      name_from_response INTEGER NOT NULL CHECK (name_from_response IN (0, 1)),
      checksum TEXT,
      options TEXT,
      batch TEXT REFERENCES batch (name),
      key TEXT,
      priority INTEGER NOT NULL,
      limit_rate INTEGER CHECK (limit_rate > 0),
      max_attempts INTEGER NOT NULL CHECK (max_attempts > 0),
      connect_timeout REAL CHECK (connect_timeout > 0),
      stall_timeout REAL CHECK (stall_timeout > 0),
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
      retry_at INTEGER,
      retry_delay INTEGER NOT NULL DEFAULT 0 CHECK (retry_delay >= 0),
      created_at INTEGER NOT NULL,
      started_at INTEGER,
      finished_at INTEGER,
      error_code TEXT,
      error_message TEXT,
      error_status INTEGER,
      error_transient INTEGER CHECK (error_transient IN (0, 1)),
      CHECK ((username IS NULL) = (password IS NULL)),
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

    CREATE TABLE attempt (
      job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
      number INTEGER NOT NULL CHECK (number > 0),
      started_at INTEGER NOT NULL,
      ended_at INTEGER,
      outcome TEXT CHECK (
        outcome = 'completed' OR outcome = 'failed' OR outcome = 'paused' OR outcome = 'cancelled'
        OR outcome = 'interrupted'),
      resumed_from INTEGER NOT NULL DEFAULT 0 CHECK (resumed_from >= 0),
      bytes_received INTEGER NOT NULL DEFAULT 0 CHECK (bytes_received >= 0),
      http_status INTEGER,
      remote_address TEXT,
      network_protocol TEXT,
      timings TEXT,
      error_code TEXT,
      error_message TEXT,
      error_status INTEGER,
      error_transient INTEGER CHECK (error_transient IN (0, 1)),
      PRIMARY KEY (job, number)
    ) STRICT, WITHOUT ROWID;

    -- The history outlives its job, so there is no foreign key.
    CREATE TABLE event (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      job INTEGER NOT NULL,
      at INTEGER NOT NULL,
      kind TEXT NOT NULL CHECK (
        kind = 'added' OR kind = 'state' OR kind = 'changed' OR kind = 'removed'),
      from_state TEXT,
      to_state TEXT,
      reason TEXT,
      error_code TEXT,
      error_message TEXT,
      error_status INTEGER,
      error_transient INTEGER CHECK (error_transient IN (0, 1))
    ) STRICT;
    """

  private static let indexes = """
    CREATE UNIQUE INDEX job_key ON job (key) WHERE key IS NOT NULL;
    CREATE UNIQUE INDEX job_destination ON job (destination)
      WHERE kind = 'download'
        AND (state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused')
        AND substr(destination, -1) <> '/';
    CREATE INDEX job_queued ON job (priority DESC, id, origin_id) WHERE state = 'queued';
    CREATE INDEX job_queued_origin ON job (origin_id, priority DESC, id) WHERE state = 'queued';
    CREATE INDEX job_retrying ON job (retry_at, priority, origin_id) WHERE state = 'retrying';
    -- When the retry was planned: later than now only where the clock was set back.
    CREATE INDEX job_postponed ON job (retry_at - retry_delay) WHERE state = 'retrying';
    CREATE INDEX job_state ON job (state);
    CREATE INDEX job_batch ON job (batch) WHERE batch IS NOT NULL;
    CREATE INDEX job_batch_state ON job (batch, state) WHERE batch IS NOT NULL;
    CREATE INDEX job_batch_failed ON job (batch, error_code) WHERE batch IS NOT NULL AND state = 'failed';
    CREATE INDEX event_job ON event (job);
    CREATE INDEX origin_troubled ON origin (id) WHERE failures > 0 OR blocked_until IS NOT NULL;
    """

  private static let triggers = """
    INSERT INTO state_count (batch, state) VALUES
      ('', 'queued'), ('', 'running'), ('', 'retrying'), ('', 'paused'), ('', 'completed'), ('', 'failed'),
      ('', 'cancelled');

    CREATE TRIGGER batch_added AFTER INSERT ON batch BEGIN
      INSERT INTO state_count (batch, state) SELECT NEW.name, state FROM state_count WHERE batch = '';
    END;

    CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
      UPDATE state_count SET jobs = jobs + 1 WHERE batch = '' AND state = NEW.state;
    END;

    CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN NEW.state <> OLD.state BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = '' AND state = OLD.state;
      UPDATE state_count SET jobs = jobs + 1 WHERE batch = '' AND state = NEW.state;
    END;

    CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = '' AND state = OLD.state;
    END;

    CREATE TRIGGER batch_job_added AFTER INSERT ON job WHEN NEW.batch IS NOT NULL BEGIN
      UPDATE state_count SET jobs = jobs + 1 WHERE batch = NEW.batch AND state = NEW.state;
    END;

    CREATE TRIGGER batch_job_added_with_bytes AFTER INSERT ON job
      WHEN NEW.batch IS NOT NULL AND (NEW.bytes_done > 0 OR NEW.bytes_total > 0)
    BEGIN
      UPDATE batch SET bytes_done = bytes_done + NEW.bytes_done,
        bytes_total = bytes_total + COALESCE(NEW.bytes_total, 0)
        WHERE name = NEW.batch;
    END;

    CREATE TRIGGER batch_job_moved AFTER UPDATE OF state ON job
      WHEN NEW.batch IS NOT NULL AND NEW.state <> OLD.state
    BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = NEW.batch AND state = OLD.state;
      UPDATE state_count SET jobs = jobs + 1 WHERE batch = NEW.batch AND state = NEW.state;
    END;

    CREATE TRIGGER batch_job_grew AFTER UPDATE OF bytes_done, bytes_total ON job
      WHEN NEW.batch IS NOT NULL
        AND (NEW.bytes_done <> OLD.bytes_done OR NEW.bytes_total IS NOT OLD.bytes_total)
    BEGIN
      UPDATE batch SET bytes_done = bytes_done + NEW.bytes_done - OLD.bytes_done,
        bytes_total = bytes_total + COALESCE(NEW.bytes_total, 0) - COALESCE(OLD.bytes_total, 0)
        WHERE name = NEW.batch;
    END;

    CREATE TRIGGER batch_job_removed AFTER DELETE ON job WHEN OLD.batch IS NOT NULL BEGIN
      UPDATE state_count SET jobs = jobs - 1 WHERE batch = OLD.batch AND state = OLD.state;
      UPDATE batch SET bytes_done = bytes_done - OLD.bytes_done,
        bytes_total = bytes_total - COALESCE(OLD.bytes_total, 0)
        WHERE name = OLD.batch;
    END;

    CREATE TRIGGER job_batch_stays BEFORE UPDATE OF batch ON job BEGIN
      SELECT RAISE(ABORT, 'a job stays in its batch');
    END;

    CREATE TRIGGER event_stays BEFORE UPDATE ON event BEGIN
      SELECT RAISE(ABORT, 'the history is never changed');
    END;
    """
}

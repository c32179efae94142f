import GRDB

/// Version 3: every job belongs to the user who submitted it. Keys and the names of batches are unique for each owner.
extension Migrations {
  /// - Parameter owner: the daemon's uid, to which everything from before belongs.
  static func addOwners(_ db: Database, owner: UInt32) throws {
    try db.execute(sql: ownerColumns(owner))
    try db.execute(sql: batchesByOwner(owner))
    try referToBatchesByOwner(db)
    try db.execute(sql: ownerIndexes)
    try db.execute(sql: ownerTriggers)
  }

  /// A constant default makes these changes independent of the number of rows. Every statement that inserts names the owner.
  private static func ownerColumns(_ owner: UInt32) -> String {
    """
    ALTER TABLE job ADD COLUMN owner INTEGER NOT NULL DEFAULT \(owner)
      CHECK (owner >= 0 AND owner <= 4294967295);
    -- These outlive their jobs, as abandonments do.
    ALTER TABLE event ADD COLUMN owner INTEGER NOT NULL DEFAULT \(owner);
    ALTER TABLE file_action ADD COLUMN owner INTEGER NOT NULL DEFAULT \(owner);
    ALTER TABLE hook ADD COLUMN owner INTEGER NOT NULL DEFAULT \(owner);
    """
  }

  /// The owner becomes part of both primary keys. The triggers that keep the sums go first: a table that a trigger names cannot
  /// be replaced.
  private static func batchesByOwner(_ owner: UInt32) -> String {
    """
    DROP TRIGGER batch_added;
    DROP TRIGGER job_added;
    DROP TRIGGER job_moved;
    DROP TRIGGER job_removed;
    DROP TRIGGER batch_job_added;
    DROP TRIGGER batch_job_added_with_bytes;
    DROP TRIGGER batch_job_moved;
    DROP TRIGGER batch_job_grew;
    DROP TRIGGER batch_job_removed;

    CREATE TABLE owned_batch (
      name TEXT NOT NULL CHECK (name <> ''),
      owner INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      -- Sums, kept by triggers. REAL because sizes that servers claim may overflow; exact below 9 PB.
      bytes_done REAL NOT NULL DEFAULT 0,
      bytes_total REAL NOT NULL DEFAULT 0,
      PRIMARY KEY (name, owner)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO owned_batch SELECT name, \(owner), created_at, bytes_done, bytes_total FROM batch;
    DROP TABLE batch;
    ALTER TABLE owned_batch RENAME TO batch;

    -- Kept by triggers. The batch '' stands for all jobs of the owner.
    CREATE TABLE owned_state_count (
      batch TEXT NOT NULL,
      owner INTEGER NOT NULL,
      state TEXT NOT NULL,
      jobs INTEGER NOT NULL DEFAULT 0 CHECK (jobs >= 0),
      PRIMARY KEY (batch, owner, state)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO owned_state_count SELECT batch, \(owner), state, jobs FROM state_count;
    DROP TABLE state_count;
    ALTER TABLE owned_state_count RENAME TO state_count;
    """
  }

  /// Replaces a foreign key in the stored text of a table. SQLite recommends this for constraints, which say nothing about the
  /// rows on disk: the table, which may hold a million jobs, need not be copied. https://sqlite.org/lang_altertable.html
  ///
  /// The migrator checks every foreign key before it commits.
  private static func referToBatchesByOwner(_ db: Database) throws {
    let reference = "batch TEXT REFERENCES batch (name),"
    let constraint = "CHECK ((state = 'retrying') = (retry_at IS NOT NULL)),"
    try db.execute(sql: "PRAGMA writable_schema = ON")
    try db.execute(
      sql: """
        UPDATE sqlite_schema SET sql = replace(replace(sql, ?1, 'batch TEXT,'), ?2,
          'FOREIGN KEY (batch, owner) REFERENCES batch (name, owner),' || char(10) || '  ' || ?2)
        WHERE type = 'table' AND name = 'job' AND instr(sql, ?1) > 0 AND instr(sql, ?2) > 0
        """, arguments: [reference, constraint])
    let isChanged = db.changesCount == 1
    try db.execute(sql: "PRAGMA writable_schema = RESET")
    guard isChanged else { throw StoreError.io("the table of the jobs is not the one of version 2") }
  }

  private static let ownerIndexes = """
    DROP INDEX job_key;
    DROP INDEX job_batch;
    DROP INDEX job_batch_state;
    DROP INDEX job_batch_failed;
    CREATE UNIQUE INDEX job_key ON job (key, owner) WHERE key IS NOT NULL;
    CREATE INDEX job_owner ON job (owner);
    CREATE INDEX job_owner_state ON job (owner, state);
    CREATE INDEX job_batch ON job (batch, owner) WHERE batch IS NOT NULL;
    CREATE INDEX job_batch_state ON job (batch, owner, state) WHERE batch IS NOT NULL;
    CREATE INDEX job_batch_failed ON job (batch, owner, error_code) WHERE batch IS NOT NULL AND state = 'failed';
    CREATE INDEX batch_owner ON batch (owner);
    CREATE INDEX event_owner ON event (owner);
    """

  private static let ownerTriggers = """
    CREATE TRIGGER batch_added AFTER INSERT ON batch BEGIN
      INSERT INTO state_count (batch, owner, state) VALUES
        (NEW.name, NEW.owner, 'queued'), (NEW.name, NEW.owner, 'running'), (NEW.name, NEW.owner, 'retrying'),
        (NEW.name, NEW.owner, 'paused'), (NEW.name, NEW.owner, 'completed'), (NEW.name, NEW.owner, 'failed'),
        (NEW.name, NEW.owner, 'cancelled');
    END;

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

    CREATE TRIGGER job_owner_stays BEFORE UPDATE OF owner ON job BEGIN
      SELECT RAISE(ABORT, 'a job stays with its owner');
    END;
    """
}

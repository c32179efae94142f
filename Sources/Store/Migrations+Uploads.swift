/// Version 2: uploads.
extension Migrations {
  /// - `follows`: the unfinished upload to the same URL that goes first. At most one upload follows another, so they
  ///   form a line. An upload that follows another is not a candidate.
  /// - `spool`: the token of the daemon's own copy of content from standard input.
  /// - `action_…`: the action on the file of a completed upload.
  static let uploadColumns = """
    ALTER TABLE job ADD COLUMN follows INTEGER CHECK (follows <> id);
    ALTER TABLE job ADD COLUMN spool TEXT;
    ALTER TABLE job ADD COLUMN action_state TEXT CHECK (
      action_state = 'pending' OR action_state = 'done' OR action_state = 'failed');
    ALTER TABLE job ADD COLUMN action_message TEXT;

    DROP INDEX job_queued;
    DROP INDEX job_queued_origin;
    DROP INDEX job_retrying;
    CREATE INDEX job_queued ON job (priority DESC, id, origin_id) WHERE state = 'queued' AND follows IS NULL;
    CREATE INDEX job_queued_origin ON job (origin_id, priority DESC, id)
      WHERE state = 'queued' AND follows IS NULL;
    CREATE INDEX job_retrying ON job (retry_at, priority, origin_id)
      WHERE state = 'retrying' AND follows IS NULL;
    CREATE INDEX job_upload_destination ON job (destination)
      WHERE kind = 'upload'
        AND (state = 'queued' OR state = 'running' OR state = 'retrying' OR state = 'paused');
    CREATE UNIQUE INDEX job_follows ON job (follows) WHERE follows IS NOT NULL;
    CREATE UNIQUE INDEX job_spool ON job (spool) WHERE spool IS NOT NULL;
    """

  /// Follow-up work of ended jobs. No foreign keys: the work is done even if the job was removed.
  static let uploadTables = """
    -- A file that the server has, to be deleted or moved. Gone when that is done.
    CREATE TABLE file_action (
      job INTEGER PRIMARY KEY,
      path TEXT NOT NULL CHECK (path <> ''),
      action TEXT NOT NULL CHECK (action <> '' AND action <> 'keep'),
      -- Which version of the file was sent.
      device INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      size INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
      -- NULL: it failed, and waits for somebody who asks for it again.
      next_at INTEGER
    ) STRICT;
    CREATE INDEX file_action_due ON file_action (next_at);

    -- An unfinished upload that is to be deleted on its server. The row is deleted when that is done.
    CREATE TABLE abandonment (
      id INTEGER PRIMARY KEY,
      job INTEGER NOT NULL,
      source TEXT NOT NULL,
      destination TEXT NOT NULL,
      origin TEXT NOT NULL,
      username TEXT,
      password TEXT,
      options TEXT,
      ledger BLOB NOT NULL,
      tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
      created_at INTEGER NOT NULL,
      next_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX abandonment_due ON abandonment (next_at);

    -- The end of a job that is reported to a hook command. The row is deleted when the command has ended.
    CREATE TABLE hook (
      id INTEGER PRIMARY KEY,
      job INTEGER NOT NULL,
      kind TEXT NOT NULL CHECK (kind = 'complete' OR kind = 'failure'),
      payload TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT;
    """

  /// When an upload ends or is removed, the next one in the line takes its place.
  static let uploadTriggers = """
    CREATE TRIGGER upload_ended AFTER UPDATE OF state ON job
      WHEN NEW.kind = 'upload' AND NEW.state <> OLD.state
        AND (NEW.state = 'completed' OR NEW.state = 'failed' OR NEW.state = 'cancelled')
    BEGIN
      UPDATE job SET follows = NULL WHERE id = NEW.id AND follows IS NOT NULL;
      UPDATE job SET follows = NEW.follows WHERE follows = NEW.id;
    END;

    CREATE TRIGGER upload_removed AFTER DELETE ON job WHEN OLD.kind = 'upload' BEGIN
      UPDATE job SET follows = OLD.follows WHERE follows = OLD.id;
    END;
    """
}

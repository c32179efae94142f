/// Version 11: jobs that run in some hours of the day only, and jobs that follow others.
extension Migrations {
  /// Changes no row. Takes about 3 s for a million queued jobs: three indexes are built anew, and
  /// `job_queued_share` is added, by which batches of one priority take turns (`ShareSelection`).
  ///
  /// - `run_window`: the job's `window`, so that its jobs are found without reading all options.
  /// - `closed_until`: when the window opens, while it is closed; set by the daemon, which knows the local time. Such a job is in
  ///   none of the queue's indexes, as with `waits_until`.
  /// - `open_dependencies`: the number of the job's rows in `dependency` that are open.
  /// - `dependency`: what a job waits for. A row is open until that has completed, and stays afterwards: a retry of the job looks
  ///   again at open rows only, so what has completed counts also when it was removed since.
  /// - `dependency_check`: ended jobs, and batches in which a job has ended, whose dependents must be looked at. Triggers write
  ///   it, so that an end and its consequences are in the same transaction, whatever ends a job. `after_job` is how far the look
  ///   has come; `completed` is for a job that was removed after it had completed.
  static let schedules = """
    ALTER TABLE job ADD COLUMN run_window TEXT;
    ALTER TABLE job ADD COLUMN closed_until INTEGER;
    ALTER TABLE job ADD COLUMN open_dependencies INTEGER NOT NULL DEFAULT 0 CHECK (open_dependencies >= 0);
    DROP INDEX job_queued;
    DROP INDEX job_queued_lane;
    DROP INDEX job_retrying;
    CREATE INDEX job_queued ON job (priority DESC, id, origin_id)
      WHERE state = 'queued' AND blocked_by IS NULL AND crash_marks < 2 AND waits_until IS NULL
        AND closed_until IS NULL AND open_dependencies = 0;
    CREATE INDEX job_queued_lane ON job (origin_id, ifnull(owner || ' ' || batch, ''), priority DESC, id)
      WHERE state = 'queued' AND blocked_by IS NULL AND crash_marks < 2 AND waits_until IS NULL
        AND closed_until IS NULL AND open_dependencies = 0;
    CREATE INDEX job_retrying ON job (retry_at, priority, origin_id, ifnull(owner || ' ' || batch, ''))
      WHERE state = 'retrying' AND blocked_by IS NULL AND crash_marks < 2 AND closed_until IS NULL;
    CREATE INDEX job_queued_share ON job (priority DESC, owner || ' ' || ifnull(batch, ''), id, origin_id)
      WHERE state = 'queued' AND blocked_by IS NULL AND crash_marks < 2 AND waits_until IS NULL
        AND closed_until IS NULL AND open_dependencies = 0;
    CREATE INDEX job_window ON job (run_window, closed_until) WHERE run_window IS NOT NULL AND finished_at IS NULL;

    CREATE TABLE dependency (
      job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      on_job INTEGER,
      on_batch TEXT,
      on_owner INTEGER,
      is_open INTEGER NOT NULL CHECK (is_open IN (0, 1)),
      PRIMARY KEY (job, position),
      CHECK ((on_job IS NULL) <> (on_batch IS NULL)),
      CHECK ((on_batch IS NULL) = (on_owner IS NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX dependency_on_job ON dependency (on_job, job) WHERE is_open = 1 AND on_job IS NOT NULL;
    CREATE INDEX dependency_on_batch ON dependency (on_batch, on_owner, job) WHERE is_open = 1 AND on_batch IS NOT NULL;

    CREATE TABLE dependency_check (
      id INTEGER PRIMARY KEY,
      on_job INTEGER UNIQUE,
      on_batch TEXT,
      on_owner INTEGER,
      completed INTEGER NOT NULL DEFAULT 0 CHECK (completed IN (0, 1)),
      after_job INTEGER NOT NULL DEFAULT 0,
      UNIQUE (on_batch, on_owner),
      CHECK ((on_job IS NULL) <> (on_batch IS NULL)),
      CHECK ((on_batch IS NULL) = (on_owner IS NULL))
    ) STRICT;

    CREATE TRIGGER dependency_ended AFTER UPDATE OF finished_at ON job
      WHEN NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL
    BEGIN
      INSERT INTO dependency_check (on_job) SELECT NEW.id
        WHERE EXISTS (SELECT 1 FROM dependency WHERE on_job = NEW.id AND is_open = 1)
        ON CONFLICT (on_job) DO UPDATE SET after_job = 0;
      INSERT INTO dependency_check (on_batch, on_owner) SELECT NEW.batch, NEW.owner
        WHERE EXISTS (
          SELECT 1 FROM dependency WHERE on_batch = NEW.batch AND on_owner = NEW.owner AND is_open = 1)
        ON CONFLICT (on_batch, on_owner) DO UPDATE SET after_job = 0;
    END;

    CREATE TRIGGER dependency_removed AFTER DELETE ON job BEGIN
      INSERT INTO dependency_check (on_job, completed) SELECT OLD.id, OLD.state = 'completed'
        WHERE EXISTS (SELECT 1 FROM dependency WHERE on_job = OLD.id AND is_open = 1)
        ON CONFLICT (on_job) DO UPDATE SET completed = excluded.completed, after_job = 0;
      INSERT INTO dependency_check (on_batch, on_owner) SELECT OLD.batch, OLD.owner
        WHERE EXISTS (
          SELECT 1 FROM dependency WHERE on_batch = OLD.batch AND on_owner = OLD.owner AND is_open = 1)
        ON CONFLICT (on_batch, on_owner) DO UPDATE SET after_job = 0;
    END;

    CREATE TRIGGER dependent_retried AFTER UPDATE OF finished_at ON job
      WHEN NEW.finished_at IS NULL AND OLD.finished_at IS NOT NULL AND NEW.open_dependencies > 0
    BEGIN
      INSERT INTO dependency_check (on_job) SELECT on_job FROM dependency
        WHERE job = NEW.id AND is_open = 1 AND on_job IS NOT NULL
        ON CONFLICT (on_job) DO UPDATE SET after_job = 0;
      INSERT INTO dependency_check (on_batch, on_owner) SELECT on_batch, on_owner FROM dependency
        WHERE job = NEW.id AND is_open = 1 AND on_batch IS NOT NULL
        ON CONFLICT (on_batch, on_owner) DO UPDATE SET after_job = 0;
    END;
    """
}

import GRDB

/// Version 13: relays.
extension Migrations {
  /// Changes no row. The text of a CHECK is changed as in version 10, and one index is built anew.
  ///
  /// - `job.phase`: what a relay does; NULL for all other jobs.
  /// - `job.other_origin_id`: the server of the phase that a relay is not in. `origin_id` is that of its phase, because limits and
  ///   waits are those of the server that it talks to.
  /// - `job.spool`: of a relay, the path of its copy below the spool's directory for relays.
  /// - `job_upload_destination`: a relay that uploads is in the line of its target.
  static func addRelays(_ db: Database) throws {
    try db.execute(
      sql: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''listing'')', 'OR kind = ''listing'' OR kind = ''relay'')')
        WHERE type = 'table' AND name = 'job';
        PRAGMA writable_schema = RESET;

        ALTER TABLE job ADD COLUMN phase TEXT CHECK (phase = 'download' OR phase = 'upload');
        ALTER TABLE job ADD COLUMN other_origin_id INTEGER;
        DROP INDEX job_upload_destination;
        CREATE INDEX job_upload_destination ON job (destination)
          WHERE (kind = 'upload' OR phase = 'upload') AND finished_at IS NULL;
        """)
  }
}

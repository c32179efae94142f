import GRDB

/// Version 10: listings of directories.
extension Migrations {
  /// Changes no row. A CHECK cannot be altered in place without a copy of the whole table, so its text in the schema is changed
  /// (sqlite.org/lang_altertable.html §7): that needs no look at the rows, because every stored word stays allowed.
  ///
  /// - `job.listing`: the listing that has found the file. A listing that goes on after a crash finds files again, which have the
  ///   same destination.
  /// - `listing_directory`: the directories that a listing knows, by their paths below its own. `page` is where a list of a
  ///   bucket goes on; `files` and `refused` count the entries of the pages that are stored.
  static func addListings(_ db: Database) throws {
    try db.execute(
      sql: """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (kind = ''download'' OR kind = ''upload'')',
          'CHECK (kind = ''download'' OR kind = ''upload'' OR kind = ''listing'')')
        WHERE type = 'table' AND name = 'job';
        PRAGMA writable_schema = RESET;

        ALTER TABLE job ADD COLUMN listing INTEGER;
        CREATE UNIQUE INDEX job_listing ON job (listing, destination) WHERE listing IS NOT NULL;

        CREATE TABLE listing_directory (
          id INTEGER PRIMARY KEY,
          job INTEGER NOT NULL,
          path TEXT NOT NULL,
          is_done INTEGER NOT NULL DEFAULT 0,
          page TEXT,
          files INTEGER NOT NULL DEFAULT 0,
          refused INTEGER NOT NULL DEFAULT 0,
          UNIQUE (job, path)
        ) STRICT;
        CREATE INDEX listing_directory_open ON listing_directory (job, id) WHERE is_done = 0;

        CREATE TRIGGER listing_completed AFTER UPDATE OF state ON job
          WHEN NEW.kind = 'listing' AND NEW.state = 'completed' AND OLD.state <> 'completed'
        BEGIN
          DELETE FROM listing_directory WHERE job = NEW.id;
        END;
        CREATE TRIGGER listing_removed AFTER DELETE ON job WHEN OLD.kind = 'listing' BEGIN
          DELETE FROM listing_directory WHERE job = OLD.id;
        END;
        """)
  }
}

/// Version 12, too: watched folders.
extension Migrations {
  /// Changes no row.
  ///
  /// - `folder`: what was asked for, in JSON, without secrets. `baseline` is 1 until the files are noted that were there when a
  ///   folder with `newOnly` was added. `uploads` counts the versions that became jobs.
  /// - `folder_file`: the versions of files that became uploads, or are passed over (`job` is NULL). `modified` is in nanoseconds
  ///   since 1970. The job may be gone. `gone_at`: since when the file is known to be gone (`Store.forgetGoneVersions`).
  static let folders = """
    CREATE TABLE folder (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      owner INTEGER NOT NULL,
      request TEXT NOT NULL CHECK (request <> ''),
      created_at INTEGER NOT NULL,
      baseline INTEGER NOT NULL DEFAULT 0 CHECK (baseline = 0 OR baseline = 1),
      uploads INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE folder_file (
      folder INTEGER NOT NULL,
      path TEXT NOT NULL CHECK (path <> ''),
      size INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      job INTEGER,
      gone_at INTEGER,
      PRIMARY KEY (folder, path, size, modified)
    ) STRICT, WITHOUT ROWID;
    """
}

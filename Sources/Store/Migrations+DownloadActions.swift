/// Version 12: file actions of downloads, and the bytes of a day.
extension Migrations {
  /// Changes no row.
  ///
  /// - `file_action.downloaded`: 1 for the file of a download.
  /// - `transferred`: body bytes received and sent, by day in local time (`2026-11-23`), for `quota`. Only the newest days are
  ///   kept.
  static let downloadActions = """
    ALTER TABLE file_action ADD COLUMN downloaded INTEGER NOT NULL DEFAULT 0 CHECK (downloaded = 0 OR downloaded = 1);
    CREATE TABLE transferred (
      day TEXT NOT NULL PRIMARY KEY CHECK (length(day) = 10),
      bytes INTEGER NOT NULL CHECK (bytes >= 0)
    ) STRICT, WITHOUT ROWID;
    """
}

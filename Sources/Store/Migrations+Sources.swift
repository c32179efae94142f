/// Version 9: what downloads know of their sources.
extension Migrations {
  /// Changes no row.
  ///
  /// - `job_source.sources`: the sources of a download with mirrors, as its last attempt left them; JSON that is opaque to the
  ///   store, without secrets.
  static let sources = """
    CREATE TABLE job_source (
      job INTEGER NOT NULL PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE,
      sources TEXT NOT NULL
    ) STRICT;
    """
}

/// Version 12, too: ends of batches, and what is reported about jobs and batches.
extension Migrations {
  /// Changes no row.
  ///
  /// - `batch_end`: a batch in which nothing is unfinished any more, since its end was noticed and until it is reported. A new id
  ///   for each end. Rows exist only while something is configured that wants to know.
  /// - `delivery`: an event that a configured target has not got yet. `message` is the same at each attempt.
  static let deliveries = """
    CREATE TABLE batch_end (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      batch TEXT NOT NULL,
      owner INTEGER NOT NULL,
      UNIQUE (batch, owner)
    ) STRICT;
    CREATE TABLE delivery (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      message TEXT NOT NULL CHECK (message <> ''),
      target TEXT NOT NULL CHECK (target <> ''),
      event TEXT NOT NULL CHECK (event <> ''),
      subject TEXT NOT NULL,
      payload TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
      next_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX delivery_target ON delivery (target, next_at);
    """
}

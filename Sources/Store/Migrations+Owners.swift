/// Version 3: every job belongs to the user who submitted it.
extension Migrations {
  /// - Parameter owner: the daemon's uid. Jobs from before this version belong to it: only its own user and root could be told
  ///   apart then. The constant default makes the change independent of the number of rows.
  static func ownerColumns(_ owner: UInt32) -> String {
    """
    ALTER TABLE job ADD COLUMN owner INTEGER NOT NULL DEFAULT \(owner)
      CHECK (owner >= 0 AND owner <= 4294967295);
    """
  }
}

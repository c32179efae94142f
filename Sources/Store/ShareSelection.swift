import GRDB
import TransferAPI

/// Finds waiting jobs so that batches of one priority take turns: a batch of a hundred thousand jobs does not hide a batch of
/// three, and ten thousand batches cost no more than five hundred.
///
/// The jobs of one owner and one batch are a *share*, and so are the owner's jobs without a batch. The highest priority is read
/// first. Its shares are visited in the order of their names, from where the last search stopped, and each gives as many jobs as
/// the others.
struct ShareSelection {
  struct Found {
    var id: JobID
    var origin: Int64
    var priority: Int64
    var share: BatchID
  }

  struct Result {
    var found: [Found] = []
    /// Jobs may have been left out that come before jobs that were found, because too many of their share are of excluded
    /// origins.
    var isCut = false
    /// Where the next search begins; `nil`: at the first share.
    var cursor: String?
  }

  /// The most jobs of one share that are examined: some excluded origins must not hide the others.
  private static let longestLook = 256

  let db: Database
  let limit: Int
  /// Row ids.
  let excludedOrigins: Set<Int64>
  /// As `BatchID.share`.
  let excludedShares: Set<String>
  let cursor: String?

  func result() throws -> Result {
    var result = Result()
    var present = try priority(below: nil)
    while let priority = present, result.found.count < limit {
      let rest = limit - result.found.count  // checked: below the limit, by the line above
      let (shares, isAll) = try shares(of: priority, upTo: rest)
      let quota = max(1, rest / max(1, shares.count))
      // Every share at this priority was read to its end.
      var isRead = isAll
      for share in shares {
        let (found, isWhole, isCut) = try head(of: share, priority, quota)
        result.found += found
        isRead = isRead && isWhole
        result.isCut = result.isCut || isCut
      }
      if !isAll { result.cursor = shares.last }
      // What is left of this priority comes before all others.
      guard isRead, !result.isCut else { break }
      present = try self.priority(below: priority)
    }
    return result
  }

  /// - Returns: the names, from the one after the cursor on, in a circle; and whether these are all.
  private func shares(of priority: Int64, upTo limit: Int) throws -> (names: [String], isAll: Bool) {
    let next = try PreparedStatement(db, Self.nextShare)
    func following(_ share: String) throws -> String? {
      try next.row { bind in
        bind("priority", priority)
        bind("share", share)
      } read: {
        try $0.text("share")
      }
    }
    var names: [String] = []
    // An owner's number is never empty.
    var share = try following(cursor ?? "")
    var isSecondRound = cursor == nil
    while true {
      guard let name = share else {
        if isSecondRound { return (names, true) }
        isSecondRound = true
        share = try following("")
        continue
      }
      if isSecondRound, let cursor, name > cursor { return (names, true) }
      guard names.count < limit else { return (names, false) }
      if !excludedShares.contains(name) { names.append(name) }
      share = try following(name)
    }
  }

  private func head(
    of share: String, _ priority: Int64, _ quota: Int
  ) throws -> (found: [Found], isWhole: Bool, isCut: Bool) {
    guard let batch = BatchID(share: share) else { return ([], true, false) }
    let look = excludedOrigins.isEmpty ? quota : max(quota, Self.longestLook)
    var found: [Found] = []
    var seen = 0
    try PreparedStatement(db, Self.headOfShare).each { bind in
      bind("priority", priority)
      bind("share", share)
      bind("limit", look)
    } body: { row in
      seen += 1
      let origin = try row.int64("origin_id")
      if !excludedOrigins.contains(origin) {
        found.append(Found(id: try row.jobID("id"), origin: origin, priority: priority, share: batch))
      }
      return found.count < quota
    }
    let isWhole = seen < look && found.count < quota
    return (found, isWhole, !isWhole && found.count < quota)
  }

  private func priority(below bound: Int64?) throws -> Int64? {
    try db.row(bound == nil ? Self.firstPriority : Self.nextPriority) { bind in
      if let bound { bind("bound", bound) }
    } read: {
      try $0.int64("priority")
    }
  }

  // MARK: - SQL

  static let firstPriority = """
    SELECT priority FROM job INDEXED BY job_queued_share
    WHERE \(CandidateSelection.waiting)
    ORDER BY priority DESC LIMIT 1
    """

  static let nextPriority = """
    SELECT priority FROM job INDEXED BY job_queued_share
    WHERE \(CandidateSelection.waiting) AND priority < :bound
    ORDER BY priority DESC LIMIT 1
    """

  static let nextShare = """
    SELECT owner || ' ' || ifnull(batch, '') AS share FROM job INDEXED BY job_queued_share
    WHERE \(CandidateSelection.waiting) AND priority = :priority
      AND owner || ' ' || ifnull(batch, '') > :share
    ORDER BY owner || ' ' || ifnull(batch, '') LIMIT 1
    """

  static let headOfShare = """
    SELECT id, origin_id FROM job INDEXED BY job_queued_share
    WHERE \(CandidateSelection.waiting) AND priority = :priority
      AND owner || ' ' || ifnull(batch, '') = :share
    ORDER BY id LIMIT :limit
    """
}

extension BatchID {
  /// As the index `job_queued_share` has it; the name is empty for jobs without a batch.
  var share: String { "\(owner) \(name)" }

  init?(share: String) {
    guard let space = share.firstIndex(of: " "), let owner = UInt32(share[..<space]) else { return nil }
    self.init(owner: owner, name: String(share[share.index(after: space)...]))
  }
}

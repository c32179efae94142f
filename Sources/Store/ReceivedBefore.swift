import GRDB
import TransferAPI

/// What the newest attempts of a job have received.
public struct ReceivedBefore: Equatable, Sendable {
  /// How many of them received bytes.
  public var attempts = 0
  /// How many of them received bytes from byte 0.
  public var beginnings = 0

  public init(attempts: Int = 0, beginnings: Int = 0) {
    self.attempts = attempts
    self.beginnings = beginnings
  }
}

extension Transaction {
  /// Of the 100 newest attempts that have ended. Fewer would forget a server that changes its file again and again; more would
  /// remember for too long.
  func receivedBefore(by id: JobID) throws -> ReceivedBefore {
    let found = try row(
      """
      SELECT count(*) AS attempts, count(CASE WHEN resumed_from = 0 THEN 1 END) AS beginnings
      FROM (SELECT resumed_from, bytes_received FROM attempt WHERE job = :id ORDER BY number DESC LIMIT 100)
      WHERE bytes_received > 0
      """
    ) { bind in
      bind("id", id)
    } read: { row in
      ReceivedBefore(attempts: try row.int("attempts"), beginnings: try row.int("beginnings"))
    }
    return found ?? ReceivedBefore()
  }
}

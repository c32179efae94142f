public import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// Failures that may come from one's own network, and pass with it.
  public static let networkFailures: [JobFailure.Code] = [.connect, .dns, .stalled, .timeout]

  /// Retries that wait because no connection came about, or fell silent, are due now. Waits that a server or a full disk
  /// asked for stay. No event is left: the jobs wait as before, only shorter.
  /// - Returns: how many there are.
  @discardableResult
  public func hastenNetworkRetries(at now: Date) async throws(StoreError) -> Int {
    let codes = Self.networkFailures.map(\.rawValue)
    return try await queue.run { transaction in
      try transaction.run(
        """
        UPDATE job INDEXED BY job_postponed SET retry_at = ?1
        WHERE state = 'retrying' AND retry_at > ?1 AND error_code IN (?2, ?3, ?4, ?5)
        """, [now.milliseconds, codes[0], codes[1], codes[2], codes[3]])
      return transaction.db.changesCount
    }
  }
}

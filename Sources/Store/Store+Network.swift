public import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// Failures that this machine's network may have caused, and that end when the network is back.
  public static let networkFailures: [JobFailure.Code] = [.connect, .dns, .network, .stalled, .timeout]

  /// Makes retries due at once if they wait because a connection failed or stalled. Waits that a server or a full disk
  /// caused are kept. Leaves no event: the jobs still wait, only for a shorter time.
  /// - Parameter codes: the failures whose retries become due.
  /// - Returns: the number of these retries.
  @discardableResult
  public func makeNetworkRetriesDue(
    after codes: [JobFailure.Code] = networkFailures, at now: Date
  ) async throws(StoreError) -> Int {
    return try await queue.run { transaction in
      try transaction.run(
        """
        UPDATE job INDEXED BY job_postponed SET retry_at = :now
        WHERE state = 'retrying' AND retry_at > :now AND error_code IN (SELECT value FROM json_each(:codes))
        """
      ) { bind in
        bind("now", now)
        bind("codes", "[\(codes.map { "\"\($0.rawValue)\"" }.joined(separator: ","))]")
      }
      return transaction.db.changesCount
    }
  }
}

import TransferAPI

/// The jobs to wait for. Jobs that are added to the batch or the daemon meanwhile belong to it.
enum WaitTarget: Equatable, Sendable {
  case ids([JobID])
  case batch(String)
  case all

  /// `nil` for jobs that are not known by their ids.
  var idCount: Int? { if case .ids(let ids) = self { ids.count } else { nil } }

  /// The number of jobs. For a batch that does not exist the daemon's problem is thrown.
  nonisolated(nonsending) func count(_ client: ControlClient) async throws -> Int {
    switch self {
    case .ids(let ids): ids.count
    case .batch(let name): try await client.batch(name).batch.counts.total
    case .all: try await client.stats().counts.total
    }
  }
}

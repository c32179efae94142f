import Store
import TransferAPI
import TransferEngine
import WireValues

/// Starts listings.
extension JobRunner {
  /// - Throws: for a stored job that this release cannot read.
  func listing(
    for record: JobRecord, timeouts: Timeouts, _ reports: AttemptReports
  ) throws(TransferError) -> ListingTask {
    let spec = record.spec
    var request = try transferRequest(spec, timeouts)
    network.apply(to: &request, of: spec.owner)
    let filter: PathFilter
    do throws(WireError) {
      filter = try spec.options.listing.filter()
    } catch {
      throw .invalidURL(spec.url, reason: error.description)
    }
    let attempt = ListingAttempt(
      record: record, store: store,
      lister: DirectoryLister(session: session, request: request, interceptor: try interceptor(for: spec)),
      filter: filter, added: reports.added, budget: EntryBudget())
    return ListingTask { await attempt.run() }
  }
}

/// A running attempt of a listing.
final class ListingTask: Sendable {
  private let task: Task<ListingResponse, Never>

  init(_ work: @escaping @Sendable () async -> ListingResponse) { task = Task { await work() } }

  func response() async -> ListingResponse { await task.value }
  func cancel() { task.cancel() }
}

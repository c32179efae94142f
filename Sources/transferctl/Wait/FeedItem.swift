import TransferAPI

/// One item of the daemon's event stream.
enum FeedItem: Equatable, Sendable {
  case event(Event)
  case progress(Progress)
  case sums(WatchSums)

  /// The job that it is about; `nil` for sums.
  var job: JobID? {
    switch self {
    case .event(let event): event.job
    case .progress(let progress): progress.job
    case .sums: nil
    }
  }
}

import TransferAPI
import TransferEngine

/// The engine's request for one attempt of a job, a download or an upload.
enum AttemptRequest: Sendable {
  case download(DownloadRequest)
  /// A request in a group, which shares its work with other requests.
  case grouped(JobID, any GroupedTransfers)
  case upload(FileUploadRequest)
  case listing(ListingTask)

  /// Ends the attempt. A download keeps its part file and its resume data.
  func cancel() {
    switch self {
    case .download(let request): request.cancel(producingResumeData: true)
    case .grouped(let id, let group): group.cancel(id)
    case .upload(let request): request.cancel()
    case .listing(let task): task.cancel()
    }
  }

  /// How it shares connections.
  var lane: TransferLane {
    guard case .grouped(_, let group) = self else { return .alone }
    return group.lane
  }

  /// The bytes transferred. For an upload these are the bytes sent and those that the server had before.
  var progress: TransferProgress {
    switch self {
    case .download(let request): request.progress
    case .grouped(let id, let group): group.progress(of: id)
    case .upload(let request):
      TransferProgress(completed: request.progress.sent, total: request.progress.total)
    case .listing: TransferProgress()
    }
  }
}

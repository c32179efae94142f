import Store
import Synchronization
import TransferAPI
import TransferEngine

/// What running downloads know of their sources.
final class JobSources: Sendable {
  private let running = Mutex<[JobID: DownloadSources]>([:])

  func begin(_ id: JobID, _ sources: DownloadSources) { running.withLock { $0[id] = sources } }

  func end(_ id: JobID) { running.withLock { $0[id] = nil } }

  /// The sources of a job whose attempt runs; `nil` if none does, or if there is only its own URL.
  func reports(of id: JobID) -> [JobSource]? {
    guard let reports = running.withLock({ $0[id] })?.reports, reports.count > 1 else { return nil }
    return reports.map(JobSource.init)
  }
}

extension JobSource {
  init(_ report: SourceReport) {
    self.init(
      url: Secrets.redacting(url: report.url.string), reason: report.reason, bytesReceived: report.bytesReceived,
      bytesPerSecond: report.bytesPerSecond)
    state =
      switch report.state {
      case .unused: .unused
      case .active: .active
      case .used: .used
      case .dropped: .dropped
      }
  }

  /// The sources of a job that has had no attempt.
  static func unused(by spec: JobSpec) -> [JobSource] {
    guard !spec.options.download.mirrors.isEmpty else { return [] }
    return ([spec.url] + spec.options.download.mirrors).map { JobSource(url: Secrets.redacting(url: $0)) }
  }
}

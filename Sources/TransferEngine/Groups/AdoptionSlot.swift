import Synchronization

/// Hands a transfer over to the pipeline that was made before it.
final class AdoptionSlot: Sendable {
  private let value = Mutex<DownloadPipeline.Adoption?>(nil)

  func put(_ adoption: DownloadPipeline.Adoption) { value.withLock { $0 = adoption } }

  func take() -> DownloadPipeline.Adoption? {
    value.withLock { value in
      defer { value = nil }
      return value
    }
  }
}

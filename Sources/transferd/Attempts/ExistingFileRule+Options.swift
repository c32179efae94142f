import TransferAPI
import TransferEngine

extension ExistingFileRule {
  /// The rule of a job. Its options were checked when it was added.
  init(_ options: JobOptions.Download) {
    self =
      switch (try? options.existing()) ?? .fail {
      case .fail: .fail
      case .skip: .skip
      case .verify: .verify
      case .rename: .rename
      case .replace: .replace
      }
  }
}

extension JobResult {
  init(_ outcome: FileOutcome) {
    self =
      switch outcome {
      case .transferred: .transferred
      case .unchanged: .unchanged
      case .skipped: .skipped
      }
  }
}

import Store
import TransferAPI
import TransferEngine

/// Reads the certificates and cookies of a new job, so that the caller learns of an error at once and not when the job runs.
struct ConnectionCheck {
  /// The rules for where the caller's jobs may read.
  let rules: PathRules
  /// The options that were checked last: jobs that are added together usually have the same.
  private var last: (options: JobOptions.Network, result: Result<Void, Problem>)?

  init(rules: PathRules) { self.rules = rules }

  /// Blocks.
  /// - Throws: `Problem` with `permission`, `file-missing` or `invalid`.
  mutating func check(_ options: JobOptions.Network) throws(Problem) {
    guard !options.files.isEmpty else { return }
    if let last, last.options == options { return try last.result.get() }
    let result: Result<Void, Problem>
    do throws(ConnectionFiles.Unusable) {
      _ = try ConnectionFiles(options, rules: rules)
      result = .success(())
    } catch {
      result = .failure(Problem(Self.code(of: error.reason), text: error.text))
    }
    last = (options, result)
    try result.get()
  }

  private static func code(of reason: ConnectionFiles.Unusable.Reason) -> Problem.Code {
    switch reason {
    case .permission: .permission
    case .unreadable: .fileMissing
    case .invalid: .invalid
    }
  }
}

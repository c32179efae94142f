import FoundationEssentials
import Synchronization
import TransferAPI

/// The text of the column `options`: the options of a job in JSON, without secrets.
enum OptionText {
  /// - Returns: `nil` if every option has its default.
  static func text(of options: JobOptions) throws -> String? {
    guard options != JobOptions() else { return nil }
    return String(decoding: try WireCoding.encoder().encode(options), as: UTF8.self)
  }

  static func options(of text: String) throws -> JobOptions {
    if let options = recent.withLock({ $0[text] }) { return options }
    let options = try WireCoding.decoder().decode(JobOptions.self, from: Data(text.utf8))
    guard text.utf8.count <= maximumRecentBytes else { return options }
    recent.withLock { recent in
      if recent.count >= maximumRecent { recent.removeAll(keepingCapacity: true) }
      recent[text] = options
    }
    return options
  }

  /// The jobs of a batch have the same options: they are decoded once, not at each claim and for each row of a list.
  private static let recent = Mutex<[String: JobOptions]>([:])
  private static let maximumRecent = 64
  private static let maximumRecentBytes = 1024
}

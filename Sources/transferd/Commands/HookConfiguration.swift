import Configuration
import Store
import TransferAPI

/// The commands that are told of a job's end. They come from the configuration alone.
struct HookConfiguration: Equatable, Sendable {
  /// After `completed`.
  var onComplete: Command?
  /// After `failed`.
  var onFailure: Command?
  var timeout = Duration.seconds(60)

  /// Hooks that run at once.
  static let atOnce = 4

  func command(for kind: PendingHook.Kind) -> Command? {
    switch kind {
    case .complete: onComplete
    case .failure: onFailure
    }
  }

  func wantsHook(after event: JobEvent) -> Bool {
    switch event {
    case .complete: onComplete != nil
    case .fail: onFailure != nil
    case .claim, .pause, .resume, .cancel, .retry, .requeue, .postpone: false
    }
  }

  /// Under `hooks`: `onComplete` and `onFailure`, lists of words, and `timeout`.
  /// - Throws: `DaemonConfiguration.Invalid`
  init(_ reader: ConfigReader) throws {
    onComplete = try Self.command(reader, "hooks.onComplete")
    onFailure = try Self.command(reader, "hooks.onFailure")
    timeout = try DaemonConfiguration.duration(reader, "hooks.timeout") ?? timeout
  }

  init() {}

  private static func command(_ reader: ConfigReader, _ key: ConfigKey) throws -> Command? {
    guard let words = reader.stringArray(forKey: key) else { return nil }
    guard let program = words.first, program.hasPrefix("/") else {
      throw DaemonConfiguration.Invalid(
        description: "\(key) must be a list of words, the first of them a program's absolute path")
    }
    return Command(arguments: words)
  }
}

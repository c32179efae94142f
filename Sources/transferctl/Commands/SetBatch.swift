import ArgumentParser
import TransferAPI

struct SetBatch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change the limits of a batch, and the priority of its jobs.",
    discussion: "Limits apply to running transfers, and are kept over restarts of the daemon.")

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions

  @Argument(help: ArgumentHelp("The batch.", valueName: "name"))
  var name: String

  @Option(help: ArgumentHelp("The most transfers of the batch at once, or off.", valueName: "n"))
  var maxActive: String?

  @Option(
    help: ArgumentHelp(
      "The limit of all its transfers together, in bytes per second with K, M or G, or off.", valueName: "rate"))
  var limitRate: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "For its unfinished jobs, and for jobs that are added later without a priority.", valueName: "n"))
  var priority: Int?

  func validate() throws { _ = try change() }

  func run() async throws {
    _ = try await daemon.connection(of: owner).open().change(batch: name, try change())
    Notice.say("changed the batch \(name)")
  }

  private func change() throws -> BatchChange {
    if name.isEmpty { throw ValidationError("The batch's name is empty.") }
    guard maxActive != nil || limitRate != nil || priority != nil else {
      throw ValidationError("Name what to change: --max-active, --limit-rate or --priority.")
    }
    var change = BatchChange()
    if let maxActive { change.maxActive = .some(try LimitText.count(maxActive, "--max-active", none: "off")) }
    if let limitRate { change.limitRate = .some(try LimitText.rate(limitRate, "--limit-rate")) }
    if let priority {
      guard (-1000...1000).contains(priority) else { throw ValidationError("--priority must be from -1000 to 1000.") }
      change.priority = .some(priority)
    }
    return change
  }
}

/// Limits as people write them.
enum LimitText {
  /// - Returns: bytes per second; `nil` for `off`.
  static func rate(_ text: String, _ option: String) throws -> Int64? {
    if text == "off" { return nil }
    guard let rate = ByteRate(text) else {
      throw ValidationError("\(option) must be a number of bytes per second with K, M or G, or off.")
    }
    return rate.bytesPerSecond
  }

  /// - Parameter none: the word for no limit; `nil`: there must be one.
  static func count(_ text: String, _ option: String, none: String? = nil) throws -> Int? {
    if let none, text == none { return nil }
    guard let count = Int(text), (1...10_000).contains(count) else {
      throw ValidationError("\(option) must be a whole number from 1 to 10000\(none.map { ", or \($0)" } ?? "").")
    }
    return count
  }
}

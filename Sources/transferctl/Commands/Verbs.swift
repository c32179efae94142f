import ArgumentParser
import TransferAPI

struct Pause: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stop jobs for a while; their bytes are kept.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.pause, jobs, daemon, owner) }
}

struct Resume: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Let paused jobs go on.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.resume, jobs, daemon, owner) }
}

struct Cancel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Give jobs up; their partial files are deleted.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.cancel, jobs, daemon, owner) }
}

struct Retry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Try failed or cancelled jobs again, and waiting ones now.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.retry, jobs, daemon, owner) }
}

struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Forget jobs, cancelling those that have not ended; completed files stay.")
  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var owner: OwnerOptions
  @OptionGroup var jobs: SelectorOptions

  func run() async throws { try await VerbRun.run(.remove, jobs, daemon, owner) }
}

/// What the verbs have in common: ask, say what was done, end with the first problem's status.
enum VerbRun {
  static func run(
    _ verb: JobVerb, _ jobs: SelectorOptions, _ daemon: ConnectionOptions, _ owner: OwnerOptions
  ) async throws {
    guard let selector = try jobs.selector() else { throw CommandFailure(.usage, "no jobs are named") }
    let outcome = try await daemon.connection(of: owner).open().apply(verb, to: selector)
    for line in lines(verb, outcome) { Notice.say(line) }
    if let first = outcome.problems.first { throw CommandFailure(ExitStatus(first.problem.code)) }
  }

  static func lines(_ verb: JobVerb, _ outcome: VerbOutcome) -> [String] {
    var lines = outcome.problems.map { words($0.problem, about: $0.id) }
    if outcome.changed > 0 || outcome.problems.isEmpty {
      lines.append(done(verb, HumanNumbers.jobs(outcome.changed)))
    }
    if let again = outcome.sentAgain, again > 0 {
      lines.append("\(HumanNumbers.jobs(again)) of them ended unknown: sent again, though the server may have the file")
    }
    let skipped = outcome.skipped - outcome.problems.count
    if skipped > 0 {
      lines.append("skipped \(HumanNumbers.jobs(skipped)), whose state does not allow \(verb.rawValue)")
    }
    return lines
  }

  /// The daemon's words, with the job's number where they do not tell it.
  static func words(_ problem: Problem, about id: JobID) -> String {
    problem.detail.contains("job \(id)") ? problem.detail : "job \(id): \(problem.detail)"
  }

  private static func done(_ verb: JobVerb, _ jobs: String) -> String {
    switch verb {
    case .pause: "paused \(jobs)"
    case .resume: "resumed \(jobs)"
    case .cancel: "cancelled \(jobs)"
    case .retry: "queued \(jobs) again"
    case .remove: "removed \(jobs)"
    }
  }
}

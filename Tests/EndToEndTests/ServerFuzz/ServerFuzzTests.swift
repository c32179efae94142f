import Foundation
import Glibc
import TestSupport
import Testing

/// Servers with random responses. The daemon must live, each job must end or wait for a stated reason, no wrong file may
/// be completed, and the daemon's memory must stay small.
///
/// The seed determines every response. `make fuzzservers` runs 1,000 conversations with a new seed; environment variables
/// repeat a run: `TRANSFERD_FUZZ_SEED`, `TRANSFERD_FUZZ_CONVERSATIONS` (the count), `TRANSFERD_FUZZ_FIRST` (the first
/// one's number).
@Suite("servers with random responses", .serialized, .timeLimit(.minutes(60))) struct ServerFuzzTests {
  private static let environment = ProcessInfo.processInfo.environment

  private static func number(_ name: String, or fallback: UInt64) -> UInt64 {
    environment[name].flatMap { UInt64($0) } ?? fallback
  }

  /// The number of jobs that run at the same time.
  private static let width = 20
  private static let memoryLimit = 100 << 20

  @Test("with any responses the daemon lives, and no wrong file is completed")
  func conversations() async throws {
    let seed = Self.number("TRANSFERD_FUZZ_SEED", or: 9)
    let first = Self.number("TRANSFERD_FUZZ_FIRST", or: 0)
    let count = Self.number("TRANSFERD_FUZZ_CONVERSATIONS", or: 40)
    // Only a long run prints its summary.
    let isLong = Self.environment["TRANSFERD_FUZZ_SEED"] != nil
    let daemon = try await Daemon(
      "--max-active", "\(Self.width)", environment: ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "s3cret"])
    let pid = daemon.pid
    var outcomes: [String: Int] = [:]
    for start in stride(from: first, to: first + count, by: Self.width) {
      let numbers = Array(start..<min(start + UInt64(Self.width), first + count))
      let wave = try await Wave(numbers, seed: seed, daemon: daemon)
      for (name, times) in try await wave.run() { outcomes[name, default: 0] += times }
      guard let pid, kill(pid, 0) == 0, daemon.pid == pid else {
        Issue.record("the daemon died: seed \(seed), conversations \(numbers)\n\(daemon.log)")
        return
      }
      let peak = daemon.peakBytes
      #expect(peak < Self.memoryLimit, "\(peak >> 20) MiB; seed \(seed), conversations up to \(numbers.last ?? 0)")
      if isLong { print("seed \(seed): \(numbers.last.map { $0 + 1 } ?? 0) conversations, peak \(peak >> 20) MiB") }
    }
    if isLong {
      print(
        "seed \(seed): " + outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }
    #expect(try await daemon.terminate().ending == .exit(0))
  }
}

/// Conversations that run at the same time.
private struct Wave {
  private let seed: UInt64
  private let daemon: Daemon
  private let batch: String
  private var conversations: [(number: UInt64, conversation: any Conversation, directory: String)] = []

  init(_ numbers: [UInt64], seed: UInt64, daemon: Daemon) async throws {
    self.seed = seed
    self.daemon = daemon
    batch = "wave\(numbers.first ?? 0)"
    for number in numbers {
      let directory = try daemon.directory.directory("downloads/c\(number)")
      conversations.append((number, try Self.conversation(number, seed), directory))
    }
  }

  private static func conversation(_ number: UInt64, _ seed: UInt64) throws -> any Conversation {
    var mixed = SeededGenerator(seed: seed &* 1_000_003 &+ number)
    let own = mixed.next() >> 8
    switch number % 10 {
    case 0...4: return try HTTPConversation(seed: own)
    case 5...6: return try FTPConversation(seed: own)
    case 7...8: return try TusConversation(seed: own)
    default: return try S3Conversation(seed: own)
    }
  }

  /// Adds the jobs, waits until each has ended or waits for a stated reason, and checks the results.
  /// - Returns: the number of jobs for each outcome.
  func run() async throws -> [String: Int] {
    let ids = try await add()
    var jobs: [Int64: Daemon.StatusJob] = [:]
    do {
      try await eventually("the jobs' ends", timeout: .seconds(90)) {
        for job in try await daemon.jobs("--batch", batch) { jobs[job.id] = job }
        return jobs.values.allSatisfy(Self.isSettled)
      }
    } catch {
      // Jobs that have not settled are reported below.
    }
    var outcomes: [String: Int] = [:]
    for (index, entry) in conversations.enumerated() {
      guard let job = jobs[ids[index]] else {
        report("the job is gone", entry.number, entry.conversation)
        continue
      }
      outcomes[job.error.map { "\(job.state) (\($0.code))" } ?? job.state, default: 0] += 1
      if let fault = try fault(of: job, entry.conversation, entry.directory) {
        report("\(fault): \(job)", entry.number, entry.conversation)
      }
    }
    _ = try await daemon.ctl("cancel", "--batch", batch)
    _ = try await daemon.ctl("remove", "--batch", batch)
    return outcomes
  }

  private func add() async throws -> [Int64] {
    var body = Data()
    for entry in conversations {
      var job = try entry.conversation.job(in: entry.directory)
      job["batch"] = batch
      body += try JSONSerialization.data(withJSONObject: job) + Data("\n".utf8)
    }
    let answer = try await daemon.curl(
      "/v1/jobs:batch", "--data-binary", "@-", "-H", "Content-Type: application/x-ndjson", input: body)
    return try answer.body.split(separator: "\n").map { line in
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return try #require((json?["id"] as? NSNumber)?.int64Value, "\(line)")
    }
  }

  /// Whether the job has ended, or waits longer than the test for its server's Retry-After.
  private static func isSettled(_ job: Daemon.StatusJob) -> Bool {
    switch job.state {
    case "completed", "failed", "cancelled": return true
    case "retrying":
      guard let time = job.retryAt.flatMap(Self.date) else { return false }
      return time.timeIntervalSinceNow > 8
    default: return false
    }
  }

  private static func date(_ text: String) -> Date? {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return formatter.date(from: text)
  }

  private func fault(
    of job: Daemon.StatusJob, _ conversation: any Conversation, _ directory: String
  ) throws -> String? {
    guard Self.isSettled(job) else { return "it neither ends nor waits" }
    if job.state == "completed" { return try conversation.fault(ofCompletedJobIn: directory) }
    guard let error = job.error, !error.code.isEmpty, !error.message.isEmpty else { return "no reason is stated" }
    if error.code == "internal" { return "it failed by a fault of the daemon" }
    if error.message.unicodeScalars.contains(where: { $0.value < 0x20 }) { return "its reason steers the terminal" }
    guard job.kind == "download" else { return nil }
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    return names.allSatisfy { $0.hasPrefix(".") } ? nil : "it did not complete, and left \(names)"
  }

  private func report(_ fault: String, _ number: UInt64, _ conversation: any Conversation) {
    Issue.record(
      """
      \(fault)
      to replay: SEED=\(seed) FIRST=\(number) CONVERSATIONS=1 make fuzzservers
      \(conversation.answers.joined(separator: "\n"))
      """)
  }
}

extension Daemon {
  /// The daemon's peak memory.
  var peakBytes: Int {
    guard let pid, let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
    else { return 0 }
    return (Int(line.filter(\.isNumber)) ?? 0) * 1024
  }
}

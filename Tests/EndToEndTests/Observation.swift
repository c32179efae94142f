import Foundation
import Glibc
import TestSupport
import Testing

/// Observations of the daemon that several tests use.
extension Daemon {
  /// The names in the directory of the downloads; part files begin with a dot.
  var fileNames: [String] {
    get throws { try directory.names(in: "downloads") }
  }

  /// The names of part files, including temporary ones.
  var partNames: [String] {
    get throws { try fileNames.filter { $0.hasSuffix(".part") || $0.hasSuffix(".new") } }
  }

  /// The length of the only part file; 0 without one.
  var partSize: Int64 { get throws { try partSizes.first ?? 0 } }

  /// Suspends until each of `count` part files has at least this length.
  ///
  /// Bytes that a server has sent may not have arrived, and no event reports it: this polls.
  func waitForParts(_ count: Int = 1, holding bytes: Int64, timeout: Duration = .seconds(120)) async throws {
    let deadline = ContinuousClock.now + timeout
    while try partSizes.count(where: { $0 >= bytes }) < count {
      guard .now < deadline else { throw TestSupportError.timedOut("\(bytes) bytes in part files", after: timeout) }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Suspends until the daemon has this many bytes of a job. Events of progress are coalesced, and the last one may be missing
  /// when a server holds the rest back: this polls.
  func waitForBytes(_ bytes: Int64, of id: String, timeout: Duration = .seconds(120)) async throws {
    let deadline = ContinuousClock.now + timeout
    while try await (curl("/v1/jobs/\(id)").json["bytesDone"] as? Int64 ?? 0) < bytes {
      guard .now < deadline else { throw TestSupportError.timedOut("\(bytes) bytes of job \(id)", after: timeout) }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// The lengths of the part files.
  var partSizes: [Int64] {
    get throws {
      try partNames.compactMap { name in
        var status = stat()
        return stat(downloaded(name), &status) == 0 ? Int64(status.st_size) : nil
      }
    }
  }

  /// The number of context switches of each thread, by its id.
  var switches: [String: String] {
    get throws {
      let tasks = "/proc/\(pid ?? 0)/task"
      return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(into: [:]) { found, thread in
        // The thread may have ended.
        guard let status = try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8) else { return }
        found[thread] = status.split(separator: "\n").filter { $0.contains("ctxt_switches") }.joined(separator: " ")
      }
    }
  }

  /// The processor time that the daemon has used (proc(5): utime and stime, in clock ticks).
  var processorTime: Duration {
    get throws {
      let text = try String(contentsOfFile: "/proc/\(pid ?? 0)/stat", encoding: .utf8)
      // The name in parentheses may contain spaces.
      let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
      let ticks = fields.count > 13 ? (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0) : 0
      return .seconds(Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK))))
    }
  }

  /// The path of a download.
  func downloaded(_ name: String) -> String { downloads + "/" + name }

  /// Suspends until the job has, or has had, a state.
  func reached(_ state: String, by id: String, timeout: Duration = .seconds(120)) async throws {
    try await waitForHistory("\"to\":\"\(state)\"", of: id, timeout: timeout)
  }

  /// Suspends until the job's history has a failure with this code.
  func failed(with code: String, _ id: String, timeout: Duration = .seconds(120)) async throws {
    try await waitForHistory("\"code\":\"\(code)\"", of: id, timeout: timeout)
  }

  /// The ids of all stored jobs.
  func storedIDs() async throws -> Set<String> {
    Set(try await ctl("status", "--format", "name").lines)
  }

  /// Checks that the job is completed and the destination has exactly these bytes, without any other file beside it.
  func expectCompleted(
    _ id: String, _ payload: Payload, as name: String, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let job = try await finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "no error")", sourceLocation: location)
    #expect(job.bytesDone == payload.size, sourceLocation: location)
    #expect(try fileNames == [name], sourceLocation: location)
    #expect(try sha256(ofFile: downloaded(name)) == payload.sha256, sourceLocation: location)
  }
}

extension ServedRequest {
  /// The offset in `Range: bytes=n-`; 0 without a range.
  var start: Int64 { range.flatMap { Int64($0.dropLast()) } ?? 0 }
}

extension Daemon {
  /// Like `add`, with an array of arguments.
  func addJob(_ arguments: [String]) async throws -> String {
    let result = try await ctlLaunch(["add"] + arguments).runSuccessfully()
    return try #require(result.lines.first)
  }
}

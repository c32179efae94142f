import Foundation
import Glibc
import TestSupport
import Testing

extension Daemon {
  /// Writes a file to be uploaded, and returns its path.
  func source(_ name: String, _ payload: Payload) throws -> String {
    let path = directory.path("out/" + name)
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try payload.write(to: path)
    return path
  }

  /// Adds uploads, and returns their ids.
  func uploadAll(_ arguments: [String], input: Data = Data()) async throws -> [String] {
    var launch = try ctlLaunch(["upload"] + arguments)
    launch.input = input
    return try await launch.runSuccessfully(timeout: .seconds(240)).lines
  }

  /// The reasons in the job's history.
  func reasons(_ id: String) async throws -> [String] {
    try await ctlLaunch(["events", id, "--format", "json"]).runSuccessfully().lines.compactMap { line in
      let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return event?["kind"] as? String == "changed" ? event?["reason"] as? String : nil
    }
  }

  /// The names of the spooled files.
  var spooled: [String] { (try? directory.names(in: "state/spool")) ?? [] }
}

extension Nginx {
  /// The targets of all requests with a method; a request is logged when it has ended.
  func targets(_ method: String) -> [String] {
    accessLog.compactMap { line in
      let words = line.split(separator: " ")
      return words.count > 1 && words[0] == method ? String(words[1]) : nil
    }
  }
}

extension Daemon {
  /// Suspends until the stored resume data contains a text. A server that has received bytes or has responded does not
  /// know whether that is stored.
  func waitForResumeData(_ id: String, containing text: String) async throws {
    let look = """
      import sqlite3, sys
      db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
      print(db.execute("SELECT instr(resume_data, CAST(? AS BLOB)) > 0 FROM job WHERE id = ?", sys.argv[2:]).fetchone()[0])
      """
    let arguments = ["-c", look, statePath("transferd.db"), text, id]
    try await eventually("\(text) in the resume data") {
      try await Launch(BuiltPrograms.system("python3"), arguments).runSuccessfully().lines == ["1"]
    }
  }

  /// The number of durable bytes of a download in the database.
  func checkpoint(of id: String) async throws -> Int64 {
    let look = """
      import json, sqlite3, sys
      db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
      print(json.loads(db.execute("SELECT resume_data FROM job WHERE id = ?", sys.argv[2:]).fetchone()[0])["checkpointBytes"])
      """
    let arguments = ["-c", look, statePath("transferd.db"), id]
    let lines = try await Launch(BuiltPrograms.system("python3"), arguments).runSuccessfully().lines
    return try #require(lines.first.flatMap { Int64($0) })
  }
}

/// Compares large files in another process, so that no thread of the tests is blocked.
func expectSame(_ one: String, _ other: String) async throws {
  let result = try await Launch(BuiltPrograms.system("cmp"), [one, other]).run(timeout: .seconds(240))
  #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
}

/// Suspends until a condition holds that no event announces.
func eventually(
  _ what: String, timeout: Duration = .seconds(120), _ condition: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + timeout
  while try await !condition() {
    guard .now < deadline else { throw TestSupportError.timedOut(what, after: timeout) }
    try await Task.sleep(for: .milliseconds(10))
  }
}

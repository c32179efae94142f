import ArgumentParser
import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

@Suite struct SelectorTests {
  private func selector(_ arguments: [String]) throws -> JobSelector? {
    try (Transferctl.parseAsRoot(["pause"] + arguments) as? Pause)?.jobs.selector()
  }

  @Test("jobs are named by ids, batch, state or all")
  func ways() throws {
    #expect(try selector(["3", "1", "3"]) == .ids([JobID(3), JobID(1)]))
    #expect(try selector(["--batch", "b"]) == .batch("b"))
    #expect(try selector(["--state", "failed"]) == .state(.failed))
    #expect(try selector(["--all"]) == .all)
  }

  @Test("two ways at once are refused, and only the options that were given are named")
  func twice() {
    let plan = #expect(throws: (any Error).self) { _ = try Transferctl.parseAsRoot(["plan", "--all", "--batch", "x"]) }
    #expect(plan.map { Transferctl.message(for: $0) } == "Name the jobs in one way only, not with --batch and --all.")
    let pause = #expect(throws: (any Error).self) { _ = try selector(["1", "--state", "failed"]) }
    #expect(pause.map { Transferctl.message(for: $0) } == "Name the jobs in one way only, not with ids and --state.")
  }

  @Test("more ids than one request may have are sent in several, and the results are added")
  func manyIDs() async throws {
    let daemon = ScriptedDaemon { _, _, count in (200, #"{"changed":1,"problems":[],"skipped":\#(count)}"#) }
    let ids = (1...2 * JobSelector.maximumIDs + 1).map { JobID(Int64($0)) }
    let outcome = try await daemon.client.apply(.pause, to: .ids(ids))
    #expect(daemon.requests == Array(repeating: "POST /v1/jobs:pause", count: 3))
    #expect(outcome == VerbOutcome(changed: 3, skipped: 3))
  }

  @Test("the outcome is printed as counts, and problems with their ids")
  func words() {
    let problem = VerbOutcome.IDProblem(id: JobID(2), problem: Problem(.notFound, "no job 2"))
    #expect(VerbRun.lines(.pause, VerbOutcome(changed: 3, skipped: 0)) == ["paused 3 jobs"])
    #expect(VerbRun.lines(.retry, VerbOutcome(changed: 1, skipped: 0)) == ["queued 1 job again"])
    #expect(
      VerbRun.lines(.cancel, VerbOutcome(changed: 0, skipped: 2))
        == ["cancelled 0 jobs", "skipped 2 jobs, whose state does not allow cancel"])
    #expect(
      VerbRun.lines(.remove, VerbOutcome(changed: 0, skipped: 0, problems: [problem])) == ["no job 2"])
    #expect(VerbRun.words(Problem(.notAllowed, "cannot"), about: JobID(2)) == "job 2: cannot")
  }

  @Test("long lists of ids take several requests")
  func pieces() {
    let query = JobQuery(ids: (1...450).map { JobID(Int64($0)) }, batch: "b")
    #expect(query.pieces.map { $0.ids?.count } == [200, 200, 50])
    #expect(query.pieces.flatMap { $0.ids ?? [] } == query.ids)
    #expect(query.pieces.allSatisfy { $0.batch == "b" })
    #expect(JobQuery().pieces == [JobQuery()])
  }

  @Test("names are percent-encoded in request paths")
  func escaped() {
    #expect(ControlClient.escaped("a b/c?d&e=f%ü") == "a%20b%2Fc%3Fd%26e%3Df%25%C3%BC")
    #expect(
      ControlClient.path("/v1/jobs", [("ids", "1,2"), ("batch", "x y")]) == "/v1/jobs?ids=1,2&batch=x%20y")
  }
}

@Suite struct ControlClientTests {
  @Test("pages are requested until the last one")
  func pages() async throws {
    let daemon = ScriptedDaemon { _, path, count in
      try count == 0
        ? ScriptedDaemon.page([sampleJob(1), sampleJob(2)], next: 2) : ScriptedDaemon.page([sampleJob(3)])
    }
    let jobs = try await daemon.client.jobs(JobQuery(state: .running))
    #expect(jobs.map(\.id.rawValue) == [1, 2, 3])
    #expect(
      daemon.requests == [
        "GET /v1/jobs?state=running&limit=500", "GET /v1/jobs?state=running&limit=500&after=2",
      ])
  }

  @Test("paging ends if a page does not advance")
  func stuck() async throws {
    let daemon = ScriptedDaemon { _, _, _ in try ScriptedDaemon.page([sampleJob(2)], next: 2) }
    _ = try await daemon.client.jobs(JobQuery())
    #expect(daemon.requests.count == 2)
  }

  @Test("a refusal is reported with the daemon's message, even if its code is unknown")
  func refusals() async throws {
    let daemon = ScriptedDaemon { _, path, _ in
      switch path {
      case "/v1/jobs/1": try ScriptedDaemon.problem(.notFound, "no job 1")
      case "/v1/jobs/2": (418, #"{"code":"teapot","detail":"short and stout","status":418}"#)
      case "/v1/jobs/3": (502, "<html>")
      default: (200, "{}")
      }
    }
    let client = daemon.client
    await #expect(throws: Problem(.notFound, "no job 1")) { try await client.job(JobID(1)) }
    await #expect(throws: ControlError.unexpected("short and stout")) { try await client.job(JobID(2)) }
    await #expect(throws: ControlError.unexpected("transferd responded with status 502")) {
      try await client.job(JobID(3))
    }
    await #expect(throws: ControlError.self) { try await client.job(JobID(4)) }
  }
}

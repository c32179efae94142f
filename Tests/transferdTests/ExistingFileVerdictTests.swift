import Foundation
import Store
import TestSupport
import Testing
import TransferAPI

@testable import TransferEngine
@testable import transferd

/// What a successful download leaves in its row, and what is refused before there is one.
@Suite struct ExistingFileVerdictTests {
  private func settlement(
    _ outcome: FileOutcome, path: String = "/d/x", attempt: Int = 1, _ change: (inout JobSpec) -> Void = { _ in }
  ) async throws -> AttemptVerdict {
    let directory = try TemporaryDirectory()
    let store = try Store(directory: directory.path, now: Date()) { _ in }
    var spec = JobSpec(owner: 0, url: "http://h/x", origin: "http://h:80", destination: "/d/x")
    change(&spec)
    let id = try await store.submit([spec], in: .everything, at: Date())[0].get().id
    var record = try await store.claim([id], at: Date())[0]
    record.attemptNumber = attempt
    var response = FileResponse(result: .success(path))
    (response.filePath, response.outcome) = (path, outcome)
    response.bytesOnDisk = outcome == .transferred ? 5 : 0
    response.verification = outcome == .transferred ? .length : nil
    var generator = SystemRandomNumberGenerator()
    let verdict = AttemptVerdict(response, of: record, stop: nil, now: Date(), using: &generator)
    await store.close()
    return verdict
  }

  @Test(
    "a file that stays has its result, no bytes, and a reason in the history",
    arguments: [FileOutcome.unchanged, .skipped])
  func kept(_ outcome: FileOutcome) async throws {
    let verdict = try await settlement(outcome)
    #expect(verdict.settlement.event == .complete && verdict.settlement.result == JobResult(outcome))
    #expect(verdict.settlement.bytesDone == 0 && verdict.settlement.bytesTotal == 0)
    #expect(verdict.settlement.reason != nil && verdict.settlement.destination == nil && !verdict.removesPartFile)
    // An earlier attempt may have left a part file.
    #expect(try await settlement(outcome, attempt: 2).removesPartFile)
  }

  @Test("the name that was chosen becomes the destination")
  func renamed() async throws {
    let verdict = try await settlement(.transferred, path: "/d/x.1") { $0.options.download.ifExists = .rename }
    #expect(verdict.settlement.destination == "/d/x.1" && verdict.settlement.result == .transferred)
    #expect(try await settlement(.transferred).settlement.destination == nil)
    let unnamed = try await settlement(.skipped, path: "/d/y") { $0.destination = "/d/" }
    #expect(unnamed.settlement.destination == "/d/y")
  }

  @Test("both options for existing files are stored, so that each can be read alone")
  func stored() throws {
    func options(_ change: (inout NewJob) -> Void) throws -> JobOptions.Download {
      var job = NewJob(source: "http://h/x")
      job.directory = "/d"
      change(&job)
      return try JobValidation().spec(job).options.download
    }
    #expect(try options { $0.options.download.replace = true }.ifExists == .replace)
    #expect(try options { $0.options.download.ifExists = .replace }.replace)
    #expect(try options { $0.options.download.ifExists = .fail }.ifExists == nil)
  }

  @Test("ifChanged is refused with a key, and where the name or the time is not known")
  func refused() {
    func problem(_ source: String, _ change: (inout NewJob) -> Void = { _ in }) -> Problem? {
      var job = NewJob(source: source)
      job.directory = "/d"
      job.options.download.ifChanged = true
      change(&job)
      do throws(Problem) {
        _ = try JobValidation().spec(job)
        return nil
      } catch { return error }
    }
    #expect(problem("http://h/x") == nil && problem("sftp://h/x") == nil)
    #expect(problem("http://h/x") { $0.key = "k" }?.status == 400)
    #expect(problem("http://h/")?.status == 400 && problem("scp://h/x")?.status == 400)
    #expect(problem("http://h/x") { $0.options.download.nameFromResponse = true }?.status == 400)
    #expect(problem("http://h/x") { $0.options.download.ifExists = .rename }?.status == 400)
  }

  @Test(
    "an existing destination is refused unless the job's rule can handle it",
    arguments: [
      (nil, false, true), (.fail, false, true), (.skip, false, false), (.verify, false, false), (.rename, false, false),
      (.replace, false, false), (nil, true, false), (.fail, true, false), (.replace, true, false),
    ] as [(IfExists?, Bool, Bool)])
  func destination(_ rule: IfExists?, _ ifChanged: Bool, _ isRefused: Bool) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.file("a", text: "mine")
    func problem(_ destination: String) -> Problem? {
      var spec = JobSpec(owner: geteuid(), url: "http://h/a", origin: "http://h:80", destination: destination)
      (spec.options.download.ifExists, spec.options.download.ifChanged) = (rule, ifChanged)
      spec.options.download.replace = rule == .replace
      var check = DestinationCheck()
      do throws(Problem) {
        try check.check(spec)
        return nil
      } catch { return error }
    }
    #expect((problem(path)?.code == .destinationExists) == isRefused)
    // What is no file can only be avoided.
    #expect((problem(try directory.directory("d")) == nil) == (rule == .rename))
    #expect(mkfifo(directory.path("fifo"), 0o600) == 0)
    #expect((problem(directory.path("fifo")) == nil) == (rule == .rename))
  }
}

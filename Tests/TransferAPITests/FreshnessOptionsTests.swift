import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct FreshnessOptionsTests {
  private func options(_ json: String) throws -> JobOptions {
    try WireCoding.decoder().decode(JobOptions.self, from: Data(json.utf8))
  }

  private func refusal(_ json: String, scheme: String? = nil) -> String? {
    do {
      try options(json).check(scheme: scheme)
      return nil
    } catch { return WireCoding.explain(error) }
  }

  @Test(
    "both options for existing files become one rule",
    arguments: [
      ("{}", IfExists.fail, false), (#"{"replace":true}"#, .replace, true),
      (#"{"ifExists":"replace"}"#, .replace, true),
      (#"{"ifExists":"replace","replace":true}"#, .replace, true), (#"{"ifExists":"skip"}"#, .skip, false),
      (#"{"ifExists":"skip","replace":false}"#, .skip, false), (#"{"ifExists":"fail"}"#, .fail, false),
      (#"{"ifExists":"rename"}"#, .rename, false), (#"{"ifExists":"verify"}"#, .verify, false),
    ])
  func rule(_ json: String, _ expected: IfExists, _ replaces: Bool) throws {
    var download = try options(json).download
    #expect(try download.existing() == expected)
    try download.completeExisting()
    #expect(download.replace == replaces && download.ifExists == (expected == .fail ? nil : expected))
    #expect(try download.existing() == expected)
  }

  @Test("replace contradicts every other rule", arguments: ["fail", "skip", "verify", "rename"])
  func contradiction(_ rule: String) {
    let message = refusal(#"{"replace":true,"ifExists":"\#(rule)"}"#)
    #expect(message == "replace and ifExists \(rule) contradict each other; give one of them")
  }

  @Test(
    "ifChanged goes with fail and replace, a known name, and protocols that report a time",
    arguments: [
      ("{}", nil, true), (#","ifExists":"fail""#, nil, true), (#","ifExists":"replace""#, nil, true),
      (#","replace":true"#, nil, true), (#","ifExists":"skip""#, nil, false), (#","ifExists":"verify""#, nil, false),
      (#","ifExists":"rename""#, nil, false), (#","nameFromResponse":true"#, nil, false), ("", "scp", false),
      ("", "sftp", true), ("", "ftp", true), ("", "https", true),
      (#","headers":{"if-none-match":"x"}"#, nil, false), (#","headers":{"If-Modified-Since":"x"}"#, nil, false),
      (#","secretHeaders":{"If-None-Match":"env:X"}"#, nil, false),
    ] as [(String, String?, Bool)])
  func ifChanged(_ more: String, _ scheme: String?, _ isAllowed: Bool) {
    let message = refusal(#"{"ifChanged":true\#(more == "{}" ? "" : more)}"#, scheme: scheme)
    #expect((message == nil) == isAllowed, "\(message ?? "")")
  }

  @Test("a key excludes ifChanged")
  func key() throws {
    var job = NewJob(source: "https://h/a")
    job.options.download.ifChanged = true
    try job.checkFreshness()
    job.key = "k"
    #expect(throws: WireError.self) { try job.checkFreshness() }
    job.options.download.ifChanged = false
    try job.checkFreshness()
  }

  @Test("a line that gives one of the two options for existing files overrides both")
  func fill() throws {
    var template = JobOptions()
    template.download.replace = true
    var line = try options(#"{"ifExists":"skip"}"#)
    line.fill(from: template, except: ["ifExists"])
    #expect(try line.download.existing() == .skip)
    template = try options(#"{"ifExists":"rename"}"#)
    line = try options(#"{"replace":true}"#)
    line.fill(from: template, except: ["replace"])
    #expect(try line.download.existing() == .replace)
    line = JobOptions()
    line.fill(from: template, except: ["mode"])
    #expect(try line.download.existing() == .rename)
  }

  @Test("an unknown rule is named with those that exist")
  func unknown() {
    #expect(refusal(#"{"ifExists":"maybe"}"#)?.contains("fail, skip, verify, rename, replace") == true)
  }

  @Test("results are read and written, in events, sums and batches, also those of an earlier release")
  func results() throws {
    let results = JobResults(completed: 10, unchanged: 3, skipped: 2)
    #expect(results.transferred == 5 && results[.unchanged] == 3 && results[.skipped] == 2)
    #expect(JobResults(completed: 1, unchanged: 3, skipped: 2).transferred == 0)
    let sums = WatchSums(counts: StateCounts(), results: results)
    let copy = try WireCoding.decoder().decode(WatchSums.self, from: WireCoding.encoder().encode(sums))
    #expect(copy == sums)
    var batch = BatchDetail(
      batch: Batch(name: "b", createdAt: Date(timeIntervalSince1970: 0), counts: StateCounts()), bytesDone: 0,
      bytesTotal: 0, failures: [:], results: results)
    let json = String(decoding: try WireCoding.encoder().encode(batch), as: UTF8.self)
    #expect(json.contains(#""results":{"skipped":2,"transferred":5,"unchanged":3}"#))
    batch.batch.counts.completed = 4
    let old = String(decoding: try WireCoding.encoder().encode(batch), as: UTF8.self)
      .replacing(#","results":{"skipped":2,"transferred":5,"unchanged":3}"#, with: "")
    #expect(try WireCoding.decoder().decode(BatchDetail.self, from: Data(old.utf8)).results.transferred == 4)
    for result in JobResult.allCases {
      var job = Job(
        id: JobID(1), kind: .download, state: .completed, source: "https://h/a", destination: "/a", maxAttempts: 1,
        createdAt: Date(timeIntervalSince1970: 0))
      job.result = result
      var text = JSONText()
      try JobLine().write(job, to: &text)
      #expect(JobLine().read(text.bytes.dropLast())?.result == result)
      #expect(Data(text.bytes.dropLast()) == (try WireCoding.encoder().encode(job)))
    }
  }
}

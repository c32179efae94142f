import ArgumentParser
import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

@Suite struct UploadLinesTests {
  private func files(_ folder: borrowing TemporaryFolder, root: String? = nil, digest: Bool = false) -> SourceFiles {
    SourceFiles(paths: PathResolver(environment: [:]), root: root, here: folder.path, needsDigest: digest)
  }

  private func plan(_ to: String, key: String? = nil, keepsPaths: Bool = false) throws -> UploadPlan {
    UploadPlan(
      target: try UploadTemplate(parsing: to),
      key: try key.map { text throws(WireError) in try UploadTemplate(parsing: text) },
      keepsPaths: keepsPaths)
  }

  private func jobs(_ lines: JobLines) throws -> [NewJob] {
    try lines.spool.data.split(separator: UInt8(ascii: "\n")).map {
      try WireCoding.decoder().decode(NewJob.self, from: Data($0))
    }
  }

  private func write(_ path: String, _ text: String = "x") throws {
    let parent = URL(filePath: path).deletingLastPathComponent().path
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  @Test("a list keeps every byte: spaces, #, and newlines with -0")
  func literal() {
    var found: [(Int, String)] = []
    InputLines.eachLiteral(in: Array(" a \n\n#b\r\n".utf8), separator: 10) {
      found.append(($0, (try? $1.get()) ?? "?"))
    }
    #expect(found.map(\.0) == [1, 3] && found.map(\.1) == [" a ", "#b\r"])
    found = []
    InputLines.eachLiteral(in: Array("a\nb\0\0c".utf8), separator: 0) { found.append(($0, (try? $1.get()) ?? "?")) }
    #expect(found.map(\.0) == [1, 3] && found.map(\.1) == ["a\nb", "c"])
    found = []
    InputLines.eachLiteral(in: [0xff, 0xfe, 10, 0x61, 0, 0x62], separator: 10) {
      found.append(($0, (try? $1.get()) ?? "?"))
    }
    #expect(found.map(\.1) == ["?", "?"])
  }

  @Test(
    "a file of a list that another run moves after the check is skipped with --ignore-missing, otherwise refused",
    arguments: [true, false])
  func movedAfterCheck(_ skips: Bool) async throws {
    let folder = try TemporaryFolder()
    try write(folder.path + "/a")
    try write(folder.path + "/b")
    var lines = JobLines()
    try lines.add(
      list: listFile(Array("a\0b\0".utf8)), nul: true, try plan("https://h/"), files(folder, root: folder.path),
      ignoringMissing: skips)
    #expect(lines.count == 2 && lines.faults.isEmpty)
    let daemon = ScriptedDaemon { _, _, _ in
      let results = (1...2).map { line in
        AddResult(line: line, error: Problem(.sourceMissing, "cannot upload /x: it does not exist"))
      }
      return (
        200, try results.map { String(decoding: try WireCoding.encoder().encode($0), as: UTF8.self) + "\n" }.joined()
      )
    }
    var body = BulkBody(lines)
    body.skipsMissing = skips
    let outcome = try await Submission.send(body, from: daemon.client)
    #expect(outcome.ids.isEmpty && (outcome.failure == nil) == skips, "\(String(describing: outcome.failure))")
  }

  @Test("a file that cannot be uploaded is reported, and the others are added")
  func faults() throws {
    let folder = try TemporaryFolder()
    try write(folder.path + "/a")
    try write(folder.path + "/new\nline")
    var lines = JobLines()
    let list = Array("a\0gone\0\(folder.path)\0new\nline\0".utf8) + [0x63, 0xe9, 0]
    try lines.add(
      list: listFile(list), nul: true, try plan("https://h/"), files(folder, root: folder.path), ignoringMissing: false)
    #expect(try jobs(lines).map(\.destination) == ["https://h/a", "https://h/new%0Aline"])
    #expect(try jobs(lines).map(\.source) == [folder.path + "/a", folder.path + "/new\nline"])
    #expect(lines.faults.map(\.origin) == [.item(2), .item(3), .item(5)])
    #expect(lines.faults.map(\.status) == [.failed, .usage, .usage])
    try lines.requireFaultless()
    var second = JobLines()
    try second.add(
      list: listFile(list), nul: true, try plan("https://h/"), files(folder, root: folder.path), ignoringMissing: true)
    #expect(second.faults.map(\.origin) == [.item(3), .item(5)])
  }

  @Test("nothing is added if no file can be uploaded or a line is invalid")
  func nothing() throws {
    let folder = try TemporaryFolder()
    var lines = JobLines()
    lines.add(path: folder.path + "/none", try plan("https://h/"), files(folder), recursive: false)
    let error = #expect(throws: CommandFailure.self) { try lines.requireFaultless() }
    #expect(error?.status == .failed)
    try write(folder.path + "/a")
    var manifest = JobLines()
    try manifest.add(
      manifest: listFile(Array("{\"source\":\"a\"}\n{\"sourc\":\"a\"}\n".utf8)), try plan("https://h/"),
      files(folder, root: folder.path))
    #expect(throws: CommandFailure.self) { try manifest.requireFaultless() }
  }

  @Test("paths in directories are kept below the current directory or --root")
  func recursive() throws {
    let folder = try TemporaryFolder()
    for name in ["tree/a/b/f", "tree/g"] { try write(folder.path + "/" + name) }
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/tree/link", withDestinationPath: folder.path + "/tree/g")
    var lines = JobLines()
    lines.add(path: folder.path + "/tree", try plan("https://h/", keepsPaths: true), files(folder), recursive: true)
    #expect(try jobs(lines).map(\.destination) == ["https://h/tree/a/b/f", "https://h/tree/g"])
    var rooted = JobLines()
    rooted.add(
      path: folder.path + "/tree", try plan("https://h/", keepsPaths: true), files(folder, root: folder.path + "/tree"),
      recursive: true)
    #expect(try jobs(rooted).map(\.destination) == ["https://h/a/b/f", "https://h/g"])
    var outside = JobLines()
    outside.add(
      path: folder.path + "/tree/g", try plan("https://h/"), files(folder, root: folder.path + "/tree/a"),
      recursive: false)
    #expect(outside.faults.first?.status == .usage)
  }

  @Test("keys and URLs may contain the file's properties, including its digest")
  func templates() throws {
    let folder = try TemporaryFolder()
    try write(folder.path + "/a b", "abc")
    let plan = try plan("https://h/{sha256}", key: "{name}:{size}:{sha256}")
    #expect(plan.needsDigest)
    var lines = JobLines()
    lines.add(path: folder.path + "/a b", plan, files(folder, digest: true), recursive: false)
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    #expect(try jobs(lines).map(\.key) == ["a b:3:\(digest)"])
    #expect(try jobs(lines).map(\.destination) == ["https://h/\(digest)"])
  }

  @Test("the fields of a manifest line override the options")
  func manifest() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try write(folder.path + "/" + name) }
    var plan = try plan("https://h/in/", key: "{name}")
    plan.job.options.onSuccess = .delete
    plan.job.options.upload.uploadProtocol = .tus
    plan.job.batch = "nightly"
    plan.job.options.headers = ["X-A": "1"]
    var lines = JobLines()
    let text = """
      {"source":"a"}
      # a comment
      {"source":"b","destination":"s3://bucket/{name}.bin","protocol":"s3","key":"own","onSuccess":"keep","batch":"other"}
      {"source":"\(folder.path)/c","headers":{"x-a":"2"},"destination":"https://h/c/"}
      {"source":"a","kind":"download"}
      """
    try lines.add(manifest: listFile(Array(text.utf8)), plan, files(folder, root: folder.path))
    let jobs = try jobs(lines)
    #expect(jobs.map(\.destination) == ["https://h/in/a", "s3://bucket/b.bin", "https://h/c/c"])
    #expect(jobs.map(\.key) == ["a", "own", "c"])
    #expect(jobs.map(\.options.onSuccess) == [.delete, .keep, .delete])
    #expect(jobs.map(\.options.upload.uploadProtocol) == [.tus, .s3, .tus])
    #expect(jobs.map(\.batch) == ["nightly", "other", "nightly"])
    #expect(jobs[2].options.headers == ["x-a": "2"])
    #expect(lines.faults.map(\.origin) == [.line(5)])
  }

  @Test("several files must not share one URL or one key")
  func many() throws {
    #expect(throws: CommandFailure.self) { try plan("https://h/one").requireManyAllowed() }
    #expect(throws: CommandFailure.self) { try plan("https://h/", key: "k").requireManyAllowed() }
    var form = try plan("https://h/one")
    form.job.options.upload.uploadProtocol = .form
    try form.requireManyAllowed()
    for to in ["https://h/", "https://h/{size}", "https://h/?a=b", "s3://bucket", "https://h/in/?sig=x"] {
      try plan(to, key: "{path}").requireManyAllowed()
    }
  }

  @Test(
    "contradictory options are refused",
    arguments: [
      ["upload"], ["upload", "a"], ["upload", "-", "--to", "http://h/"],
      ["upload", "-", "a", "--to", "http://h/", "--name", "x"],
      ["upload", "a", "--to", "http://h/", "--name", "x"], ["upload", "a", "--to", "http://h/{x}"],
      ["upload", "a", "--to", "http://h/", "--on-success", "shred"], ["upload", "a", "--to", "http://h/", "-0"],
      ["upload", "a", "--to", "http://h/", "--protocol", "x"], ["upload", "a", "--to", "http://h/", "--form", "a"],
      ["upload", "a", "--to", "http://h/", "--protocol", "tus", "--form", "a=b"],
      ["upload", "a", "--to", "http://h/", "--timeout", "5"], ["upload", "a", "--to", "http://h/", "--retry-failed"],
      ["upload", "a", "--to", "http://h/", "--credentials", "hunter2"],
      ["upload", "a", "--to", "http://h/", "--segments", "2"],
      ["upload", "-i", "-", "--manifest", "-", "--to", "http://h/"],
      ["upload", "-", "--to", "http://h/", "--name", "a/b"],
    ])
  func usage(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try Transferctl.parseAsRoot(arguments) }
  }

  @Test("the documented command lines are accepted")
  func understood() {
    for arguments in [
      [
        "upload", "-0", "-i", "-", "--to", "https://h/in/{name}", "--batch", "b", "--key", "{path}:{mtime}",
        "--on-success", "keep", "--wait",
      ],
      ["upload", "disk.img", "--to", "https://h/files/", "--protocol", "tus"],
      ["upload", "a.tar", "b.tar", "--to", "s3://bucket/prefix/", "--profile", "backup"],
      [
        "upload", "photo.jpg", "--to", "https://h/form", "--protocol", "form", "--form", "file=@", "--form",
        "title=Sunset",
      ],
      ["upload", "-", "--name", "dump.sql", "--to", "sftp://user@host/backups/"],
      [
        "upload", "a", "--to", "http://h/", "--method", "post", "--retries", "3", "--connect-timeout", "5s",
        "--priority", "-5",
      ],
      ["upload", "--manifest", "m.jsonl"],
      ["upload", "--files-from", "list", "--root", "/srv", "--recursive", "--to", "http://h/{relpath}"],
    ] { #expect(throws: Never.self) { try Transferctl.parseAsRoot(arguments) } }
  }
}

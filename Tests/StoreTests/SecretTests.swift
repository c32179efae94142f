import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

/// Secrets are stored where they can be erased, and are erased.
@Suite(.timeLimit(.minutes(5))) struct SecretTests {
  /// The files of the directory that contain the text.
  private static func files(_ directory: String, holding text: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).filter { name in
      try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name)).contains(text)
    }.sorted()
  }

  /// Waits until no file contains any of the texts: the WAL is truncated after the callers have continued.
  private static func expectGone(_ texts: [String], from directory: String) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    var found = texts
    while ContinuousClock.now < deadline {
      found = try found.filter { try !files(directory, holding: $0).isEmpty }
      if found.isEmpty { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("still there: \(found.prefix(5)), \(found.count) of \(texts.count)")
  }

  /// Another program that reads the database, like a backup.
  private static func reader(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  private static func upload(_ n: Int) -> JobSpec {
    var spec = JobSpec(
      owner: 1000, uploading: "/a/\(n)", to: "https://example.org/\(n)?token=querysecret\(n)x&plain=1",
      origin: "https://example.org:443", credentials: .init(username: "namesecret\(n)x", password: "wordsecret\(n)x"))
    spec.options.headers = ["Authorization": "Bearer headsecret\(n)x", "X-Plain": "plain"]
    spec.options.upload.uploadProtocol = .form
    spec.options.upload.form = [
      FormField(name: "file", value: .file), FormField(name: "api_token", value: .text("formsecret\(n)x")),
      FormField(name: "title", value: .text("plain")),
    ]
    spec.options.upload.collection = "https://example.org/?token=collsecret\(n)x"
    spec.options.s3.endpoint = "https://me:endsecret\(n)x@s3.test/"
    return spec
  }

  private static func secrets(_ n: Int) -> [String] {
    ["querysecret", "namesecret", "wordsecret", "headsecret", "formsecret", "collsecret", "endsecret"].map {
      "\($0)\(n)x"
    }
  }

  @Test("a job is read with its secrets, and its row contains none of them")
  func roundTrip() async throws {
    let fixture = try Fixture()
    let spec = Self.upload(1)
    let id = try await fixture.add(spec)
    let record = try await fixture.record(id)
    #expect(record.spec == spec)
    #expect(record.job.destination == "https://example.org/1?token=***&plain=1")
    let row = try await fixture.store.read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM job").map(\.description).joined()
    }
    for secret in Self.secrets(1) { #expect(!row.contains(secret), "\(secret)") }
    #expect(row.contains("plain"))
  }

  @Test("a job without secrets has no row in their table")
  func none() async throws {
    let fixture = try Fixture()
    var spec = Fixture.spec(1)
    spec.options.headers = ["X-Plain": "1"]
    try await fixture.add(spec)
    var other = Fixture.spec(2)
    other.source += "?page=2"
    try await fixture.add(other)
    let rows = try await fixture.store.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM secret") }
    #expect(rows == 0)
  }

  @Test("secrets of removed jobs are in no file while the store is open")
  func removed() async throws {
    let fixture = try Fixture()
    let ids = try await fixture.store.submit((1...40).map(Self.upload), at: Fixture.epoch).map { try $0.get().id }
    #expect(try !Self.files(fixture.directory, holding: "wordsecret7x").isEmpty)
    for result in await fixture.store.remove(Array(ids.prefix(20)), at: Fixture.at(1)) { try result.get() }
    try await Self.expectGone((1...20).flatMap(Self.secrets), from: fixture.directory)
    // The other secrets are unchanged.
    for n in 21...40 { #expect(try await fixture.record(ids[n - 1]).spec == Self.upload(n)) }
    for result in await fixture.store.remove(Array(ids.suffix(20)), at: Fixture.at(2)) { try result.get() }
    try await Self.expectGone((21...40).flatMap(Self.secrets), from: fixture.directory)
    let rows = try await fixture.store.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM secret") }
    #expect(rows == 0)
  }

  @Test("thousands of added and removed secrets leave nothing, whatever SQLite does with its pages", arguments: [1])
  func churn(_ seed: UInt64) async throws {
    let fixture = try Fixture()
    var state = seed
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    var live: [(id: JobID, n: Int)] = []
    var gone: [Int] = []
    var n = 0
    for _ in 0..<30 {
      let specs = (0..<1 + random(60)).map { _ -> JobSpec in
        n += 1
        var spec = Self.upload(n)
        spec.options.headers["X-Secret"] = String(repeating: "abc", count: random(400))
        return spec
      }
      let first = n - specs.count + 1
      let added = await fixture.store.submit(specs, at: Fixture.epoch)
      for (index, result) in added.enumerated() { live.append((try result.get().id, first + index)) }
      let kept = random(120)
      var removed: [JobID] = []
      while live.count > kept {
        let job = live.remove(at: random(live.count))
        removed.append(job.id)
        gone.append(job.n)
      }
      for result in await fixture.store.remove(removed, at: Fixture.at(1)) { try result.get() }
    }
    #expect(gone.count > 400)
    await fixture.store.close()
    let data = try Data(contentsOf: URL(fileURLWithPath: fixture.file))
    let left = gone.filter { data.contains("wordsecret\($0)x") || data.contains("querysecret\($0)x") }
    #expect(left.isEmpty, "\(left.count) of \(gone.count)")
    let again = try Store(directory: fixture.directory, now: Fixture.epoch) { _ in }
    for job in live { #expect(try await again.job(job.id)?.spec.credentials?.password == "wordsecret\(job.n)x") }
    await again.close()
  }

  @Test("a new URL erases the secrets of the old one")
  func changed() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.upload(1))
    let change = AddressChange(url: "https://other.test/1?sig=newsecret", origin: "https://other.test:443")
    let record = try await fixture.store.update(id, address: change, at: Fixture.at(1))
    #expect(record.spec.url == "https://other.test/1?sig=newsecret")
    #expect(record.spec.credentials == nil)
    #expect(record.spec.options.headers == ["X-Plain": "plain"])
    let gone = Self.secrets(1).filter { !$0.hasPrefix("form") && !$0.hasPrefix("end") }
    try await Self.expectGone(gone, from: fixture.directory)
    #expect(try !Self.files(fixture.directory, holding: "newsecret").isEmpty)
    // Other changes keep the secrets.
    let before = try await fixture.store.read { db in try Data.fetchOne(db, sql: "SELECT data FROM secret") }
    _ = try await fixture.store.update(id, priority: 7, at: Fixture.at(2))
    let after = try await fixture.store.read { db in try Data.fetchOne(db, sql: "SELECT data FROM secret") }
    #expect(before == after)
  }

  @Test("an upload that is to be deleted on its server keeps its secrets until that is done")
  func remoteCleanup() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.upload(1))
    let claimed = try await fixture.claim(id)
    let checkpoint = Checkpoint(
      id: id, fence: claimed.fence, bytesDone: 1, bytesTotal: 2, resumeData: Data("{}".utf8))
    #expect(try await fixture.store.checkpoint(checkpoint, at: Fixture.at(1)))
    try await fixture.settle(try await fixture.record(id), .pause)
    for result in await fixture.store.remove([id], at: Fixture.at(2)) { try result.get() }
    let due = try await fixture.store.dueRemoteCleanups(now: Fixture.at(3), limit: 10)
    let cleanup = try #require(due.first)
    #expect(cleanup.spec.url == Self.upload(1).url)
    #expect(cleanup.spec.credentials == Self.upload(1).credentials)
    #expect(cleanup.spec.options.headers == Self.upload(1).options.headers)
    try await fixture.store.settle(cleanup, reason: nil, at: Fixture.at(4))
    try await Self.expectGone(Self.secrets(1), from: fixture.directory)
  }

  @Test("uploads to one URL run in order; URLs that differ only in a secret are independent")
  func lines() async throws {
    let fixture = try Fixture()
    func spec(_ token: String) -> JobSpec {
      JobSpec(
        owner: 1000, uploading: "/a", to: "https://example.org/a?token=\(token)", origin: "https://example.org:443")
    }
    let results = await fixture.store.submit([spec("one"), spec("two"), spec("one")], at: Fixture.epoch)
    let submissions = try results.map { try $0.get() }
    #expect(submissions.map(\.blockedBy) == [nil, nil, submissions[0].id])
  }

  @Test("a refused job leaves no secret in the files")
  func refused() async throws {
    let fixture = try Fixture()
    try await fixture.add(Fixture.spec(1))
    var spec = Fixture.spec(1)
    spec.credentials = .init(username: "u", password: "refusedsecret")
    let result = await fixture.store.submit([spec], at: Fixture.epoch)[0]
    #expect(result.failure != nil)
    #expect(try Self.files(fixture.directory, holding: "refusedsecret").isEmpty)
  }

  @Test("a reader delays the erasure but blocks no caller")
  func reader() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.upload(1))
    let queue = try Self.reader(fixture.file)
    try queue.inDatabase { db in
      try db.execute(sql: "BEGIN")
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM job")
    }
    for result in await fixture.store.remove([id], at: Fixture.at(1)) { try result.get() }
    // A caller that waited for the reader would wait for the busy timeout each time. A busy machine delays some of them.
    var fastest = Duration.seconds(3600)
    for number in 2...6 where fastest >= .seconds(Int64(DatabaseFile.busyTimeout)) {
      let start = ContinuousClock.now
      try await fixture.add(Fixture.spec(number))
      fastest = min(fastest, start.duration(to: .now))
    }
    #expect(fastest < .seconds(Int64(DatabaseFile.busyTimeout)))
    #expect(try !Self.files(fixture.directory, holding: "wordsecret1x").isEmpty)
    try queue.inDatabase { db in try db.execute(sql: "COMMIT") }
    try queue.close()
    try await Self.expectGone(Self.secrets(1), from: fixture.directory)
  }

  @Test(
    "padding moves all secrets to overflow pages", arguments: [513, 600, 4000, 4577, 4578, 8100, 8200, 16_384, 200_000])
  func padding(_ count: Int) async throws {
    let fixture = try Fixture()
    let total = count + SecretPack.fillBytes(for: count)
    let header = total <= 8185 ? 4 : 5
    // https://sqlite.org/fileformat.html#b_tree_pages: K is the number of bytes that stay in the leaf.
    let (usable, payload) = (4096, total + header)
    let least = (usable - 12) * 32 / 255 - 23
    let k = least + (payload - least) % (usable - 4)
    #expect(payload > usable - 35)
    #expect((k <= usable - 35 ? k : least) <= SecretPack.paddingBytes)
    let size = try await fixture.store.read { db in try Int.fetchOne(db, sql: "PRAGMA page_size") }
    #expect(size == 4096)
  }

  // MARK: Databases of earlier releases

  /// A database with secrets in a job's row, in the free space of its page, and in a free page.
  private static func oldDatabase() async throws -> String {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/version-1.db")
    let directory = Fixture.temporaryDirectory()
    let path = directory + "/transferd.db"
    try FileManager.default.copyItem(atPath: source.path, toPath: path)
    var configuration = Configuration()
    configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA secure_delete = OFF") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.inDatabase { db in
      try db.execute(sql: "UPDATE job SET source = 'https://example.org/x?token=livesecret&a=1' WHERE id = 3")
      try db.execute(
        sql: "UPDATE job SET resume_data = ? WHERE id = 3",
        arguments: [Data(#"{"url":"https://example.org/x?token=livesecret&a=1","version":1}"#.utf8)])
      for table in ["small", "large"] {
        try db.execute(sql: "CREATE TABLE \(table) (value TEXT)")
        let secret = table + "remains" + String(repeating: "x", count: table == "large" ? 20_000 : 10)
        for _ in 0..<3 { try db.execute(sql: "INSERT INTO \(table) VALUES (?)", arguments: [secret]) }
      }
      try db.execute(sql: "DROP TABLE small; DROP TABLE large")
      _ = try db.checkpoint(.truncate)
    }
    try queue.close()
    return directory
  }

  @Test("the first start of this release erases old secrets from free space and stores each live one once")
  func rewritten() async throws {
    let directory = try await Self.oldDatabase()
    for text in ["smallremains", "largeremains"] {
      #expect(try Self.files(directory, holding: text) == ["transferd.db"])
    }
    let fixture = try Fixture(directory: directory)
    #expect(fixture.store.rewriteFailure == nil)
    for text in ["smallremains", "largeremains"] {
      #expect(try Self.files(directory, holding: text).isEmpty, "\(text)")
    }
    let record = try await fixture.record(JobID(3))
    #expect(record.spec.url == "https://example.org/x?token=livesecret&a=1")
    #expect(record.resumeData == Data(#"{"url":"https://example.org/x","version":1}"#.utf8))
    let data = try Data(contentsOf: URL(fileURLWithPath: fixture.file))
    for text in ["old-secret", "livesecret"] {
      #expect(data.occurrences(of: text) == 1, "\(text)")
    }
    for result in await fixture.store.remove([JobID(2), JobID(3)], at: Fixture.epoch) { try result.get() }
    try await Self.expectGone(["old-secret", "livesecret"], from: directory)
    #expect(!FileManager.default.fileExists(atPath: fixture.file + ".new"))
    let mode = try FileManager.default.attributesOfItem(atPath: fixture.file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test("a file that could not be rewritten is used unchanged, and rewritten at a later start")
  func notRewritten() async throws {
    let directory = try await Self.oldDatabase()
    // A directory occupies the draft's name.
    try FileManager.default.createDirectory(atPath: directory + "/transferd.db.new", withIntermediateDirectories: false)
    let store = try Store(directory: directory, now: Fixture.epoch) { _ in }
    #expect(store.rewriteFailure != nil)
    #expect(try await store.counts().total == 6)
    await store.close()
    try FileManager.default.removeItem(atPath: directory + "/transferd.db.new")
    let fixture = try Fixture(directory: directory)
    #expect(fixture.store.rewriteFailure == nil)
    #expect(try Self.files(directory, holding: "largeremains").isEmpty)
    #expect(try await fixture.store.counts().total == 6)
  }

  @Test("a file that is open in another program is not replaced")
  func inUse() async throws {
    let directory = try await Self.oldDatabase()
    let queue = try Self.reader(directory + "/transferd.db")
    _ = try queue.inDatabase { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM job") }
    let store = try Store(directory: directory, now: Fixture.epoch) { _ in }
    #expect(store.rewriteFailure?.contains("another program") == true, "\(store.rewriteFailure ?? "")")
    #expect(try await store.counts().total == 6)
    await store.close()
    try queue.close()
    let fixture = try Fixture(directory: directory)
    #expect(fixture.store.rewriteFailure == nil)
    #expect(try await fixture.store.counts().total == 6)
  }

  @Test("a secret that was erased before a crash is in no file after the next start")
  func crash() async throws {
    let fixture = try Fixture()
    let id = try await fixture.add(Self.upload(1))
    // A reader keeps the bytes in the WAL; the files are then copied as a kill would leave them.
    let queue = try Self.reader(fixture.file)
    try queue.inDatabase { db in
      try db.execute(sql: "BEGIN")
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM job")
    }
    for result in await fixture.store.remove([id], at: Fixture.at(1)) { try result.get() }
    let copy = Fixture.temporaryDirectory()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: fixture.file + suffix, toPath: copy + "/transferd.db" + suffix)
    }
    try queue.inDatabase { db in try db.execute(sql: "COMMIT") }
    try queue.close()
    #expect(try !Self.files(copy, holding: "wordsecret1x").isEmpty)
    let after = try Fixture(directory: copy)
    for secret in Self.secrets(1) { #expect(try Self.files(after.directory, holding: secret).isEmpty, "\(secret)") }
  }
}

import Foundation
import Glibc
import Store
import TestSupport
import Testing
import TransferAPI
import TransferEngine

@testable import transferd

@Suite struct FolderTests {
  private static func file(_ path: String, size: Int64 = 1, modified: Int64 = 1) -> FolderScan.File {
    FolderScan.File(version: FileVersion(path: path, size: size, modified: modified), changed: modified)
  }

  // MARK: Settling

  @Test("a version that does not change settles; any change begins anew, and a file that is gone does not settle")
  func settles() {
    var table = SettleTable(settle: .seconds(10))
    let start = ContinuousClock.now
    table.update([Self.file("a"), Self.file("b")], now: start)
    #expect(table.settled(at: start + .seconds(9)).isEmpty && table.nextScan(after: start + .seconds(9)) == .seconds(1))
    table.update([Self.file("a", size: 2), Self.file("b")], now: start + .seconds(9))
    #expect(table.settled(at: start + .seconds(10)).map(\.path) == ["b"])
    table.update([Self.file("a", size: 2, modified: 2), Self.file("c")], now: start + .seconds(12))
    #expect(table.settled(at: start + .seconds(19)).isEmpty)
    #expect(table.settled(at: start + .seconds(22)).map(\.path) == ["a", "c"])
    table.update([], now: start + .seconds(30))
    #expect(table.count == 0 && table.nextScan(after: start) == nil)
  }

  @Test("a version that is handled never waits again, and another version of its file does")
  func handled() {
    var table = SettleTable(settle: .zero)
    let start = ContinuousClock.now
    let files = [Self.file("a"), Self.file("b")]
    table.update(files, now: start)
    table.handle(table.settled(at: start))
    table.update(files, now: start)
    #expect(table.count == 0 && table.unknown(in: files).isEmpty)
    let changed = [Self.file("a", modified: 2)]
    #expect(table.unknown(in: changed).map(\.path) == ["a"])
    table.update(changed, now: start)
    #expect(table.settled(at: start).map(\.modified) == [2])
    // The old version again: it was uploaded.
    table.update(files, now: start)
    #expect(table.count == 0)
  }

  @Test("a version that is postponed begins to wait again")
  func postponed() {
    var table = SettleTable(settle: .seconds(10))
    let start = ContinuousClock.now
    table.update([Self.file("a")], now: start)
    table.postpone(FileVersion(path: "a", size: 1, modified: 1), now: start + .seconds(10))
    #expect(table.settled(at: start + .seconds(19)).isEmpty && table.settled(at: start + .seconds(20)).count == 1)
    table.postpone(FileVersion(path: "a", size: 7, modified: 1), now: start + .seconds(30))
    #expect(table.settled(at: start + .seconds(20)).count == 1)
  }

  @Test("handled versions that are gone cost no memory; the database is asked when one comes back")
  func forgotten() {
    var table = SettleTable(settle: .zero)
    let files = [Self.file("a"), Self.file("b")]
    table.handle(files.map(\.version))
    table.forgetHandled(except: [files[1].version, FileVersion(path: "c", size: 1, modified: 1)])
    #expect(table.unknown(in: files).map(\.path) == ["a"])
  }

  // MARK: Scanning

  private func scan(_ directory: TemporaryDirectory, recursive: Bool) throws -> (paths: [String], listed: Int) {
    var listed = 0
    let scan = try FolderScan.scan(directory.path, rules: .none, recursive: recursive) { _ in listed += 1 }
    #expect(!scan.isIncomplete)
    return (scan.files.map(\.version.path).sorted(), listed)
  }

  @Test("regular files are found; dot files, .part, .tmp, links, sockets and hidden directories are passed over")
  func scans() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    for name in ["a", "b c.csv", ".hidden", "x.part", "y.tmp", "sub/c", "sub/deep/d", ".git/e", "sub/.f", "part"] {
      try directory.file(name, text: name)
    }
    try FileManager.default.createSymbolicLink(atPath: directory.path("link"), withDestinationPath: directory.path("a"))
    try FileManager.default.createSymbolicLink(atPath: directory.path("sub/loop"), withDestinationPath: directory.path)
    #expect(mkfifo(directory.path("fifo"), 0o600) == 0)
    let flat = try scan(directory, recursive: false)
    #expect(flat.paths == ["a", "b c.csv", "part"] && flat.listed == 1)
    let deep = try scan(directory, recursive: true)
    #expect(deep.paths == ["a", "b c.csv", "part", "sub/c", "sub/deep/d"] && deep.listed == 3)
  }

  @Test("a missing directory and one that the rules refuse are errors")
  func unreadable() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    #expect(throws: TransferError.self) {
      try FolderScan.scan(directory.path("none"), rules: .none, recursive: true) { _ in }
    }
    let paths = PathPolicy(daemon: 1, state: "/state", socket: "/run/s", runtimeDirectory: nil)
    #expect(throws: TransferError.self) {
      try FolderScan.scan(directory.path, rules: paths.rules(for: 4711, .write), recursive: true) { _ in }
    }
  }

  // MARK: Uploads

  @Test("a file that is open for writing is not ready; one that is read is, and one that changed is neither")
  func readiness() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let path = try directory.file("a", text: "text")
    let version = try #require(
      try FolderScan.scan(directory.path, rules: .none, recursive: false) { _ in }.files.first?.version)
    let opened = try Directory.open(directory.path)
    func readiness() -> FolderUploads.Readiness { FolderUploads.readiness(of: version, in: opened) }
    #expect(readiness() == .ready)
    let writer = open(path, O_WRONLY | O_CLOEXEC)
    #expect(readiness() == .written)
    close(writer)
    let reader = open(path, O_RDONLY | O_CLOEXEC)
    #expect(readiness() == .ready)
    close(reader)
    try directory.file("a", text: "another text")
    #expect(readiness() == .changed)
    try FileManager.default.removeItem(atPath: path)
    #expect(readiness() == .changed)
  }

  @Test("no link and no device is opened to look at a file")
  func links() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    try directory.file("sub/a", text: "text")
    try directory.file("other/a", text: "text")
    let version = try #require(
      try FolderScan.scan(directory.path, rules: .none, recursive: true) { _ in }.files
        .first { $0.version.path == "sub/a" }?.version)
    let opened = try Directory.open(directory.path)
    #expect(FolderUploads.readiness(of: version, in: opened) == .ready)
    try FileManager.default.moveItem(atPath: directory.path("sub"), toPath: directory.path("moved"))
    try FileManager.default.createSymbolicLink(atPath: directory.path("sub"), withDestinationPath: "moved")
    #expect(FolderUploads.readiness(of: version, in: opened) == .changed)
    #expect(mkfifo(directory.path("fifo"), 0o600) == 0)
    #expect(FolderUploads.readiness(of: FileVersion(path: "fifo", size: 0, modified: 0), in: opened) == .changed)
  }

  @Test("names that look the same are two files, and a name that is no UTF-8 is counted")
  func names() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    for name in ["caf\u{e9}", "cafe\u{301}"] { try directory.file(name, text: "1") }
    for byte in [UInt8(0xE9), 0xFF] {
      let path = Array(directory.path.utf8) + [UInt8(ascii: "/"), byte, 0]
      let descriptor = path.withUnsafeBytes {
        open($0.baseAddress!.assumingMemoryBound(to: CChar.self), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      }
      #expect(descriptor >= 0)
      close(descriptor)
    }
    let scan = try FolderScan.scan(directory.path, rules: .none, recursive: false) { _ in }
    #expect(scan.files.count == 2 && scan.unusableNames == 2)
    let versions = scan.files.map { FileVersion(path: $0.version.path, size: 1, modified: 1) }
    #expect(Set(versions).count == 2)
    var table = SettleTable(settle: .zero)
    let files = versions.map { FolderScan.File(version: $0, changed: 1) }
    table.update(files, now: .now)
    #expect(table.settled(at: .now).count == 2)
    table.handle([versions[0]])
    #expect(table.settled(at: .now) == [versions[1]] && table.unknown(in: files).isEmpty)
  }

  @Test("folders that share a budget have so many files together, and one that goes gives its files back")
  func budget() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    for name in ["one/a", "one/b", "one/c", "two/a", "two/b"] { try directory.file(name, text: "") }
    let budget = FileBudget(4)
    func scan(_ name: String) throws -> FolderScan {
      try FolderScan.scan(directory.path(name), rules: .none, recursive: false, budget: budget) { _ in }
    }
    var first: FolderScan? = try scan("one")
    #expect(first?.files.count == 3 && first?.isIncomplete == false)
    let second = try scan("two")
    #expect(second.files.count == 1 && second.isIncomplete)
    first = nil
    #expect(try scan("two").files.count == 2)
  }

  @Test("a directory for moved files that is the folder by another path is refused")
  func alias() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    for name in ["out/deep/sent", "sent"] { try directory.directory(name) }
    for (name, target) in [("alias", "out"), ("far", "out/deep/sent")] {
      try FileManager.default.createSymbolicLink(
        atPath: directory.path(name), withDestinationPath: directory.path(target))
    }
    func check(_ target: String, recursive: Bool) -> Problem? {
      var folder = NewFolder(directory: directory.path("out"), to: "https://h/")
      (folder.settle, folder.recursive) = (5, recursive)
      folder.options.onSuccess = .move(to: directory.path(target))
      do throws(Problem) {
        try FolderCheck.check(folder, write: .none, read: .none)
        return nil
      } catch {
        return error
      }
    }
    #expect(check("alias", recursive: false)?.detail.contains("is in the folder") == true)
    #expect(check("far", recursive: true)?.code == .invalid)
    #expect(check("far", recursive: false) == nil && check("sent", recursive: true) == nil)
  }

  @Test("the job of a version has the URL of its template and a key that is the same each time, and short")
  func jobs() throws {
    var folder = NewFolder(directory: "/srv/out", to: "https://h/in/")
    folder.batch = "b"
    let version = FileVersion(path: "sub/a b.csv", size: 7, modified: 1_500_000_000)
    let flat = try FolderUploads(id: 3, folder).job(version)
    #expect(flat.source == "/srv/out/sub/a b.csv" && flat.destination == "https://h/in/a%20b.csv" && flat.batch == "b")
    folder.recursive = true
    let deep = try FolderUploads(id: 3, folder).job(version)
    #expect(deep.destination == "https://h/in/sub/a%20b.csv" && deep.key == flat.key)
    #expect(deep.key?.hasPrefix("folder-3:") == true && deep.key?.hasSuffix(":7:1500000000") == true)
    let long = FileVersion(path: String(repeating: "x/", count: 2000) + "y", size: .max, modified: .min)
    #expect((try FolderUploads(id: .max, folder).job(long).key?.utf8.count ?? 0) < 128)
    folder.to = "https://h/{mtime}-{size}-{name}"
    #expect(try FolderUploads(id: 3, folder).job(version).destination == "https://h/1.500000000-7-a%20b.csv")
    folder.to = "https://h/{sha256}"
    #expect(throws: Problem.self) { try FolderUploads(id: 3, folder) }
  }

  // MARK: Adding

  @Test(
    "a folder is refused whose files would be uploaded again or to one URL, that holds secrets, or deletes too soon",
    arguments: [
      (#"{"directory":"/a","to":"https://h/","onSuccess":"move=/a","settle":5}"#, "is in the folder"),
      (
        #"{"directory":"/a/","to":"https://h/","onSuccess":"move=/a/b/","settle":5,"recursive":true}"#,
        "is in the folder"
      ),
      (#"{"directory":"/","to":"https://h/","onSuccess":"move=/b","settle":5,"recursive":true}"#, "is in the folder"),
      (#"{"directory":"/a","to":"https://h/","onSuccess":"delete"}"#, "needs settle"),
      (#"{"directory":"/a","to":"https://u:p@h/"}"#, "no passwords"),
      (#"{"directory":"/a","to":"https://h/?token=x"}"#, "no passwords"),
      (#"{"directory":"/a","to":"https://h/","headers":{"Authorization":"x"}}"#, "no passwords"),
      (#"{"directory":"a","to":"https://h/"}"#, "not absolute"),
      (#"{"directory":"/a","to":"https://h/in"}"#, "replace each other"),
      (#"{"directory":"/a","to":"https://h/in?x=/","protocol":"plain"}"#, "replace each other"),
      (#"{"directory":"/a","to":"s3://b/in"}"#, "replace each other"),
      (#"{"directory":"/a","to":"https://h/{in"}"#, "has no }"),
      (#"{"directory":"/a","to":"https://h/","deadline":"2099-01-01T00:00:00Z"}"#, "single jobs"),
    ])
  func refused(_ json: String, _ words: String) throws {
    let folder = try WireCoding.decoder().decode(NewFolder.self, from: Data(json.utf8))
    let problem = #expect(throws: Problem.self) { try FolderCheck.normalized(folder) }
    #expect(problem?.detail.contains(words) == true && problem?.code == .invalid, "\(problem as Any)")
  }

  @Test(
    "a folder is accepted whose files get URLs of their own, or whose server names them",
    arguments: [
      #""to":"https://h""#, #""to":"s3://b""#, #""to":"https://h/in/?v=1""#, #""to":"https://h/in-{name}""#,
      #""to":"https://h/in","method":"POST""#, #""to":"https://h/in","protocol":"form""#,
      #""to":"https://h/files","protocol":"tus""#,
    ])
  func targets(_ fields: String) throws {
    let json = #"{"directory":"/a",\#(fields)}"#
    let folder = try WireCoding.decoder().decode(NewFolder.self, from: Data(json.utf8))
    #expect(try FolderCheck.normalized(folder).to == folder.to)
  }

  @Test("a folder beside the target of its moves is accepted, and paths get their usual form")
  func accepted() throws {
    let json = #"{"directory":"/a//b/","to":"https://h/","onSuccess":"move=/a/b/sent","settle":"5s"}"#
    let folder = try FolderCheck.normalized(
      try WireCoding.decoder().decode(NewFolder.self, from: Data(json.utf8)))
    #expect(folder.directory == "/a/b" && folder.options.onSuccess == .move(to: "/a/b/sent") && folder.settle == 5)
  }
}

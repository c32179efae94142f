import CLinux
import Foundation
import Glibc
import Store
import TestSupport
import Testing
import TransferAPI
import TransferEngine

@testable import transferd

@Suite struct FileActionTests {
  /// An uploaded file, and a directory to move it to, optionally on another file system.
  struct Fixture {
    let directory: TemporaryDirectory
    let sent: String
    private let other: OtherFileSystem?
    var path: String { directory.path("out/a.csv") }

    init(acrossFileSystems: Bool = false) throws {
      directory = try TemporaryDirectory()
      try directory.file("out/a.csv", text: "content")
      other = acrossFileSystems ? try OtherFileSystem() : nil
      sent = try other?.path ?? directory.directory("sent")
    }

    func action(_ action: SuccessAction, owner: UInt32 = geteuid()) throws -> PendingFileAction {
      var status = stat()
      try #require(stat(path, &status) == 0)
      return PendingFileAction(
        job: JobID(7), owner: owner, path: path, action: action, stamp: try #require(FileActionPerformer.stamp(status)))
    }

    var move: PendingFileAction { get throws { try action(.move(to: sent)) } }
    func names(_ path: String) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
    var outNames: [String] { names(directory.path("out")) }
    var sentNames: [String] { names(sent) }
    func sentText(_ name: String) -> String? { try? String(contentsOfFile: sent + "/" + name, encoding: .utf8) }
  }

  /// A directory on /dev/shm, which is a separate file system.
  final class OtherFileSystem: Sendable {
    let path: String
    init() throws {
      path = "/dev/shm/td-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private func isDone(_ step: FileActionPerformer.Step) -> Bool { if case .done = step { true } else { false } }
  private func isFailed(_ step: FileActionPerformer.Step) -> Bool { if case .failed = step { true } else { false } }

  @Test("a move into the file's own directory keeps the file")
  func moveInPlace() throws {
    let fixture = try Fixture()
    try FileManager.default.createSymbolicLink(
      atPath: fixture.directory.path("link"), withDestinationPath: fixture.directory.path("out"))
    for target in ["out", "link"] {
      let action = try fixture.action(.move(to: fixture.directory.path(target)))
      for _ in 1...2 { #expect(isDone(FileActionPerformer(action: action).perform())) }
      #expect(fixture.outNames == ["a.csv"])
    }
  }

  @Test("the uploaded version is deleted, and repeating the action succeeds")
  func delete() throws {
    let fixture = try Fixture()
    let performer = FileActionPerformer(action: try fixture.action(.delete))
    #expect(isDone(performer.perform()))
    #expect(fixture.outNames.isEmpty)
    #expect(isDone(performer.perform()))
  }

  @Test("an interrupted delete is finished")
  func deleteAfterCrash() throws {
    let fixture = try Fixture()
    let performer = FileActionPerformer(action: try fixture.action(.delete))
    try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.directory.path("out/.transferd-7.deleted"))
    // A new file with the old name must stay.
    try fixture.directory.file("out/a.csv", text: "new")
    #expect(isDone(performer.perform()))
    #expect(fixture.outNames == ["a.csv"])
  }

  enum Change: CaseIterable {
    case grown, touched, replaced, link
  }

  @Test("a newer version that an interrupted delete has hidden gets its name back", arguments: [false, true])
  func hiddenNewerVersion(_ isNameTaken: Bool) throws {
    let fixture = try Fixture()
    let performer = FileActionPerformer(action: try fixture.action(.delete))
    try FileManager.default.removeItem(atPath: fixture.path)
    try fixture.directory.file("out/.transferd-7.deleted", text: "a newer version")
    if isNameTaken { try fixture.directory.file("out/a.csv", text: "the newest version") }
    #expect(isFailed(performer.perform()))
    #expect(fixture.outNames == (isNameTaken ? [".transferd-7.deleted", "a.csv"] : ["a.csv"]))
    let text = try String(contentsOfFile: fixture.path, encoding: .utf8)
    #expect(text == (isNameTaken ? "the newest version" : "a newer version"))
  }

  @Test("another version is not deleted or moved", arguments: Change.allCases, [false, true])
  func changed(_ change: Change, moves: Bool) throws {
    let fixture = try Fixture()
    let action = try moves ? fixture.move : fixture.action(.delete)
    switch change {
    case .grown: try Data("content+".utf8).write(to: URL(filePath: fixture.path))
    case .touched:
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 5)], ofItemAtPath: fixture.path)
    case .replaced:
      try FileManager.default.removeItem(atPath: fixture.path)
      try fixture.directory.file("out/a.csv", text: "content")
      let stamp = action.stamp
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: Double(stamp.modified) / 1e9 + 10)], ofItemAtPath: fixture.path)
    case .link:
      try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.directory.path("elsewhere"))
      try FileManager.default.createSymbolicLink(
        atPath: fixture.path, withDestinationPath: fixture.directory.path("elsewhere"))
    }
    #expect(isFailed(FileActionPerformer(action: action).perform()))
    #expect(fixture.outNames == ["a.csv"])
    #expect(fixture.sentNames.isEmpty)
  }

  @Test("a file is moved, and repeating the action succeeds", arguments: [false, true])
  func move(acrossFileSystems: Bool) throws {
    let fixture = try Fixture(acrossFileSystems: acrossFileSystems)
    let performer = FileActionPerformer(action: try fixture.move)
    #expect(isDone(performer.perform()))
    #expect(fixture.outNames.isEmpty)
    #expect(fixture.sentNames == ["a.csv"])
    #expect(fixture.sentText("a.csv") == "content")
    #expect(isDone(performer.perform()))
    #expect(fixture.sentNames == ["a.csv"])
  }

  @Test("a move never replaces an existing file", arguments: [false, true])
  func taken(acrossFileSystems: Bool) throws {
    let fixture = try Fixture(acrossFileSystems: acrossFileSystems)
    try Data("old".utf8).write(to: URL(filePath: fixture.sent + "/a.csv"))
    let action = try fixture.move
    #expect(isDone(FileActionPerformer(action: action).perform()))
    #expect(fixture.sentNames == ["a.csv", "a.job-7.csv"])
    #expect(fixture.sentText("a.csv") == "old" && fixture.sentText("a.job-7.csv") == "content")
    // The second name exists too, so the file is not moved.
    let second = try Fixture(acrossFileSystems: acrossFileSystems)
    for name in ["a.csv", "a.job-7.csv"] { try Data("old".utf8).write(to: URL(filePath: second.sent + "/" + name)) }
    #expect(isFailed(FileActionPerformer(action: try second.move).perform()))
    #expect(second.outNames == ["a.csv"])
    #expect(second.sentText("a.job-7.csv") == "old")
  }

  @Test("an interrupted move across file systems begins a new copy")
  func crossAfterCrash() throws {
    // An incomplete copy with the hidden name.
    let first = try Fixture(acrossFileSystems: true)
    try Data("cont".utf8).write(to: URL(filePath: first.sent + "/.transferd-7.copy"))
    #expect(isDone(FileActionPerformer(action: try first.move).perform()))
    #expect(first.sentNames == ["a.csv"] && first.sentText("a.csv") == "content")
  }

  @Test("a complete copy is found, also where times are whole seconds", arguments: [1, 1_000_000_000])
  func crossAfterCopy(precision: Int) throws {
    let fixture = try Fixture(acrossFileSystems: true)
    try Data("content".utf8).write(to: URL(filePath: fixture.sent + "/a.csv"))
    let modified = Int(try fixture.move.stamp.modified) / precision * precision
    let time = timespec(tv_sec: modified / 1_000_000_000, tv_nsec: modified % 1_000_000_000)
    try #require(utimensat(AT_FDCWD, fixture.sent + "/a.csv", [time, time], 0) == 0)
    #expect(isDone(FileActionPerformer(action: try fixture.move).perform()))
    #expect(fixture.sentNames == ["a.csv"] && fixture.outNames.isEmpty)
  }

  @Test("a file with the same content is no copy: both stay", arguments: [false, true])
  func sameContent(acrossFileSystems: Bool) throws {
    let fixture = try Fixture(acrossFileSystems: acrossFileSystems)
    try Data("content".utf8).write(to: URL(filePath: fixture.sent + "/a.csv"))
    let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
    try #require(utimensat(AT_FDCWD, fixture.sent + "/a.csv", [time, time], 0) == 0)
    #expect(isDone(FileActionPerformer(action: try fixture.move).perform()))
    #expect(fixture.sentNames == ["a.csv", "a.job-7.csv"] && fixture.outNames.isEmpty)
  }

  @Test("extended attributes of users go along to another file system, as far as it keeps them")
  func attributes() throws {
    let fixture = try Fixture(acrossFileSystems: true)
    let values = [
      "user.xdg.origin.url": "https://h/a", "user.empty": "", "user.long": String(repeating: "x", count: 2000),
    ]
    let file = open(fixture.path, O_RDONLY)
    defer { close(file) }
    for (name, value) in values {
      try #require(linux_set_attribute(file, name, value, UInt64(value.utf8.count)) == 0)
    }
    let step = FileActionPerformer(action: try fixture.move).perform()
    #expect(isDone(step))
    #expect(fixture.sentText("a.csv") == "content" && fixture.outNames.isEmpty)
    let copy = open(fixture.sent + "/a.csv", O_RDONLY)
    defer { close(copy) }
    // tmpfs keeps them since Linux 6.6.
    guard linux_set_attribute(copy, "user.probe", "", 0) == 0 else { return }
    for (name, value) in values {
      var bytes = [CChar](repeating: 0, count: 4096)
      let length = linux_get_attribute(copy, name, &bytes, UInt64(bytes.count))
      #expect(length == Int64(value.utf8.count) && bytes.starts(with: value.utf8.map { CChar($0) }), "\(name)")
    }
  }

  @Test("a hard link in the target directory counts as the moved file")
  func hardLink() throws {
    let fixture = try Fixture()
    try FileManager.default.linkItem(atPath: fixture.path, toPath: fixture.sent + "/a.csv")
    #expect(isDone(FileActionPerformer(action: try fixture.move).perform()))
    #expect(fixture.outNames.isEmpty && fixture.sentNames == ["a.csv"])
  }

  @Test("a missing directory or a missing file is reported")
  func missing() throws {
    let fixture = try Fixture()
    #expect(isFailed(FileActionPerformer(action: try fixture.action(.move(to: "/nonexistent"))).perform()))
    #expect(fixture.outNames == ["a.csv"])
    let action = try fixture.move
    try FileManager.default.removeItem(atPath: fixture.path)
    #expect(isFailed(FileActionPerformer(action: action).perform()))
  }

  @Test(
    "names keep their extension and fit the length limit",
    arguments: [
      ("/d/a.csv", "a.job-7.csv"), ("/d/a", "a.job-7"), ("/d/.hidden", ".hidden.job-7"),
      ("/d/a.tar.gz", "a.tar.job-7.gz"),
      ("/d/" + String(repeating: "x", count: 255), String(repeating: "x", count: 249) + ".job-7"),
    ])
  func names(_ path: String, _ second: String) {
    #expect(FileActionPerformer.names(for: path, job: JobID(7))[1] == second)
  }

  @Test("a round syncs each directory once and postpones actions on a full disk")
  func round() throws {
    let fixture = try Fixture()
    let outcomes = FileActionRound.perform([try fixture.move], now: Date(timeIntervalSince1970: 0))
    #expect(outcomes == [.init(job: JobID(7), end: .done, message: "moved \(fixture.path) to \(fixture.sent)/a.csv")])
    guard case .retryLater("x: No space left on device") = FileActionPerformer.step("x", ENOSPC) else {
      Issue.record("a full disk is not waited for")
      return
    }
    guard case .retryLater = FileActionPerformer.step("x", .file(.io("x", errno: EROFS))) else {
      Issue.record("a file system that has become read-only is not waited for")
      return
    }
  }

  @Test("the rules are checked on the open source and target directories", arguments: [false, true])
  func rules(isSwapped: Bool) throws {
    let fixture = try Fixture()
    let (out, sent) = (fixture.directory.path("out"), fixture.sent)
    for (action, closed) in [(try fixture.action(.delete), out), (try fixture.move, out), (try fixture.move, sent)] {
      var rules = PathRules(roots: [out, sent].filter { $0 != closed })
      if isSwapped {
        // The same file through a link: the path is allowed, but the directory behind it is forbidden.
        rules = PathRules(directories: [.init(closed, reason: "it is closed")])
        let moved = closed + ".moved"
        rename(closed, moved)
        symlink(moved, closed)
      }
      let step = FileActionPerformer(action: action, rules: rules).perform()
      guard case .failed(let message) = step else {
        Issue.record("\(step)")
        continue
      }
      #expect(message.contains("cannot use \(closed): it is"))
      #expect(fixture.outNames == ["a.csv"] && fixture.sentNames.isEmpty)
      if isSwapped {
        unlink(closed)
        rename(closed + ".moved", closed)
      }
    }
  }

  @Test("a round keeps few directories open, however many there are")
  func manyDirectories() throws {
    let fixture = try Fixture()
    let actions = try (0..<200).map { number in
      let path = try fixture.directory.file("out/\(number)/a.csv", text: "\(number)")
      var status = stat()
      try #require(stat(path, &status) == 0)
      return PendingFileAction(
        job: JobID(Int64(number)), owner: geteuid(), path: path, action: .delete,
        stamp: try #require(FileActionPerformer.stamp(status)))
    }
    let outcomes = FileActionRound.perform(actions, now: Date(timeIntervalSince1970: 0))
    #expect(outcomes.map(\.job) == actions.map(\.job))
    #expect(outcomes.allSatisfy { $0.end == .done })
    #expect((0..<200).allSatisfy { fixture.names(fixture.directory.path("out/\($0)")).isEmpty })
  }

  @Test(
    "a member's job does not delete or move another user's file", .enabled(if: geteuid() == 0, "needs root"))
  func foreign() throws {
    let (alice, bob, daemon) = (UInt32(41_002), UInt32(41_003), UInt32(41_001))
    for isDelete in [true, false] {
      let fixture = try Fixture()
      chown(fixture.path, alice, alice)
      let kind: SuccessAction = isDelete ? .delete : .move(to: fixture.sent)
      let refused = FileActionPerformer(action: try fixture.action(kind, owner: bob), daemon: daemon).perform()
      #expect(refused == .failed("kept \(fixture.path): it belongs to another user"))
      #expect(fixture.outNames == ["a.csv"] && fixture.sentNames.isEmpty)
      // Bob's hard link to Alice's file changes nothing.
      let name = fixture.directory.path("out/b.csv")
      try #require(link(fixture.path, name) == 0)
      var linked = try fixture.action(kind, owner: bob)
      linked.path = name
      #expect(isFailed(FileActionPerformer(action: linked, daemon: daemon).perform()))
      #expect(fixture.outNames == ["a.csv", "b.csv"] && fixture.sentNames.isEmpty)
      #expect(isDone(FileActionPerformer(action: try fixture.action(kind, owner: alice), daemon: daemon).perform()))
      #expect(fixture.outNames == ["b.csv"])
    }
  }
}

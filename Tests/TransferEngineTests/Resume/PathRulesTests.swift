import CLinux
import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

/// A directory tree with allowed and protected directories, and links between them.
///
/// `open/` is allowed. `open/own/`, `state/` and the file `open/socket` are protected.
private final class Tree: Sendable {
  let directory: TemporaryDirectory
  var path: String { directory.path }

  init() throws {
    directory = try TemporaryDirectory()
    try directory.file("state/db", text: "secret")
    try directory.file("state/deep/er/x", text: "secret")
    try directory.file("open/a/file", text: "public")
    try directory.file("open/own/x", text: "secret")
    try directory.file("open/socket", text: "")
    try directory.file("other/file", text: "elsewhere")
    for (link, target) in [
      ("open/to-state", "../state"), ("open/to-db", path + "/state/db"), ("open/to-other", path + "/other"),
      ("open/dangling", path + "/none/of/it"), ("other/to-open", "../open/a"), ("open/a/up", "../.."),
      ("other/file-to-open", "to-open/file"), ("open/loop", "loop"), ("open/chain", "to-db"),
    ] { symlink(target, directory.path(link)) }
  }

  var rules: PathRules {
    PathRules(
      directories: [
        .init(directory.path("state"), reason: "it is protected"),
        .init(directory.path("open/own"), reason: "it is protected"),
        .init(directory.path("open/later/deep"), reason: "it is protected"),
      ], files: [.init(directory.path("open/socket"), reason: "it is protected")],
      roots: [directory.path("open")], outsideReason: "it is outside")
  }

  /// The same without roots.
  var ownersRules: PathRules {
    var rules = rules
    rules.roots = nil
    return rules
  }
}

/// `ok`, `protected`, `outside`, or another word for the error.
private func verdict(_ body: () throws(TransferError) -> Void) -> String {
  do throws(TransferError) {
    try body()
    return "ok"
  } catch .file(.permission(let text)) {
    return text.hasSuffix("it is protected") ? "protected" : text.hasSuffix("it is outside") ? "outside" : "refused"
  } catch .source(.missing) {
    return "missing"
  } catch .source(.notRegular) {
    return "not regular"
  } catch {
    return error.description
  }
}

@Suite struct PathRulesTests {
  @Test("a combining mark after a slash does not hide a symbolic link")
  func combiningMark() throws {
    let tree = try Tree()
    try tree.directory.file("other/\u{301}file", text: "elsewhere")
    try tree.directory.file("open/a/\u{301}file", text: "public")
    #expect(
      verdict { () throws(TransferError) in try tree.rules.checkSource(tree.path + "/open/to-other/\u{301}file") }
        == "outside")
    #expect(
      verdict { () throws(TransferError) in try tree.rules.checkSource(tree.path + "/open/a/\u{301}file") } == "ok")
  }

  @Test(
    "the resolved path decides whether a destination is allowed",
    arguments: [
      ("open", "ok", "ok"), ("open/a", "ok", "ok"), ("open/a/new/er", "ok", "ok"),
      ("state", "protected", "protected"), ("state/deep/er", "protected", "protected"),
      ("state/new", "protected", "protected"), ("state/deep/er/new/er", "protected", "protected"),
      ("open/own", "protected", "protected"), ("open/own/new", "protected", "protected"),
      ("open/to-state", "protected", "protected"), ("open/to-state/deep", "protected", "protected"),
      ("open/to-state/new", "protected", "protected"), ("open/a/up/state", "protected", "protected"),
      ("open/to-other", "outside", "ok"), ("open/to-other/new", "outside", "ok"), ("other", "outside", "ok"),
      ("other/to-open", "ok", "ok"), ("other/to-open/new", "ok", "ok"), ("none", "outside", "ok"),
      ("open/dangling", "outside", "ok"), ("open/dangling/x", "outside", "ok"),
      ("open/later", "ok", "ok"), ("open/later/other", "ok", "ok"), ("open/later/deep/x", "protected", "protected"),
    ])
  func destinations(_ path: String, _ member: String, _ owner: String) throws {
    let tree = try Tree()
    let (path, rules, owners) = (tree.directory.path(path), tree.rules, tree.ownersRules)
    #expect(verdict { () throws(TransferError) in try rules.checkDestination(path) } == member)
    #expect(verdict { () throws(TransferError) in try owners.checkDestination(path) } == owner)
    #expect(verdict { () throws(TransferError) in try PathRules.none.checkDestination(path) } == "ok")
  }

  @Test("a single protected file cannot be replaced; its neighbours can")
  func files() throws {
    let tree = try Tree()
    let (rules, open) = (tree.ownersRules, tree.directory.path("open"))
    let link = tree.directory.path("other/back")
    symlink("../open", link)
    for directory in [open, link] {
      #expect(
        verdict { () throws(TransferError) in try rules.checkDestination(directory, name: "socket") } == "protected")
      #expect(verdict { () throws(TransferError) in try rules.checkDestination(directory, name: "socket2") } == "ok")
    }
    #expect(verdict { () throws(TransferError) in try rules.checkSource(open + "/socket") } == "protected")
  }

  @Test(
    "the resolved path decides whether a source is allowed",
    arguments: [
      ("open/a/file", "ok", "ok"), ("other/to-open/file", "ok", "ok"), ("other/file-to-open", "ok", "ok"),
      ("state/db", "protected", "protected"), ("open/to-db", "protected", "protected"),
      ("open/chain", "protected", "protected"), ("open/to-state/db", "protected", "protected"),
      ("open/a/up/state/db", "protected", "protected"), ("state/none", "protected", "protected"),
      ("other/file", "outside", "ok"), ("open/to-other/file", "outside", "ok"), ("other/none", "outside", "missing"),
      ("open/a/none", "missing", "missing"), ("open/a", "not regular", "not regular"),
      ("open/dangling", "outside", "missing"),
    ])
  func sources(_ path: String, _ member: String, _ owner: String) throws {
    let tree = try Tree()
    let (path, rules, owners) = (tree.directory.path(path), tree.rules, tree.ownersRules)
    #expect(verdict { () throws(TransferError) in try rules.checkSource(path) } == member)
    #expect(verdict { () throws(TransferError) in try owners.checkSource(path) } == owner)
  }

  @Test("links in /proc give no access to directories and files that this process has open")
  func magicLinks() throws {
    let tree = try Tree()
    let directory = open(tree.directory.path("open"), O_RDONLY | O_DIRECTORY)
    let file = open(tree.directory.path("state/db"), O_RDONLY)
    defer {
      close(directory)
      close(file)
    }
    let rules = tree.ownersRules
    #expect(
      verdict { () throws(TransferError) in try rules.checkDestination("/proc/self/fd/\(directory)/a") } == "refused")
    #expect(verdict { () throws(TransferError) in try rules.checkDestination("/proc/self/cwd") } == "refused")
    #expect(verdict { () throws(TransferError) in try rules.checkSource("/proc/self/fd/\(file)") } == "protected")
    symlink("/proc/self/fd/\(file)", tree.directory.path("open/magic"))
    #expect(
      verdict { () throws(TransferError) in try rules.checkSource(tree.directory.path("open/magic")) } == "protected")
  }

  @Test("a source with several hard links is refused if it belongs to another user")
  func hardLinks() throws {
    let tree = try Tree()
    let path = tree.directory.path("open/linked")
    link(tree.directory.path("other/file"), path)
    for (owner, expected) in [(nil, "ok"), (getuid(), "ok"), (getuid() + 1, "refused")] as [(UInt32?, String)] {
      var rules = tree.rules
      rules.linkOwner = owner
      #expect(
        verdict { () throws(TransferError) in try rules.checkSource(path) } == expected, "\(String(describing: owner))")
      #expect(verdict { () throws(TransferError) in try rules.checkSource(tree.directory.path("open/a/file")) } == "ok")
    }
  }

  @Test("a renamed directory stays protected, and so does a new directory with its old name")
  func renamed() throws {
    let tree = try Tree()
    let rules = tree.ownersRules
    rename(tree.directory.path("state"), tree.directory.path("elsewhere"))
    #expect(
      verdict { () throws(TransferError) in try rules.checkDestination(tree.directory.path("elsewhere/x")) }
        == "protected")
    #expect(
      verdict { () throws(TransferError) in try rules.checkDestination(tree.directory.path("state")) } == "protected")
    try tree.directory.directory("state")
    #expect(
      verdict { () throws(TransferError) in try rules.checkDestination(tree.directory.path("state/x")) } == "protected")
  }

  @Test(
    "a refused path is refused before any directory is created",
    arguments: [
      "state/new/er", "open/to-state/new", "open/own/new", "open/to-other/new", "none/new", "open/later/deep/x",
    ])
  func making(_ path: String) throws {
    let tree = try Tree()
    let before = FileManager.default.enumerator(atPath: tree.path)?.allObjects.count
    let (path, rules) = (tree.directory.path(path), tree.rules)
    #expect(throws: TransferError.self) { try Directory.open(path, creating: true, rules: rules) }
    #expect(FileManager.default.enumerator(atPath: tree.path)?.allObjects.count == before)
  }

  @Test("an allowed path is created in the checked directory, and the changed parents are reported")
  func made() throws {
    let tree = try Tree()
    var parents: [Directory] = []
    let path = tree.directory.path("other/to-open/b/c/d")
    let directory = try Directory.open(path, rules: tree.rules) { parents.append($0) }
    #expect(directory.identity == DirectoryIdentity(path: tree.directory.path("open/a/b/c/d")))
    #expect(
      parents.map(\.identity) == ["", "/b", "/b/c"].map { DirectoryIdentity(path: tree.directory.path("open/a") + $0) })
    parents = []
    _ = try Directory.open(path, rules: tree.rules) { parents.append($0) }
    #expect(parents.isEmpty)
  }

  @Test("without openat2 paths lead to the same directories or fail with the same error")
  func walk() throws {
    let tree = try Tree()
    let names = [
      "open", "open/a/", "open//a/./up/state", "open/to-state/deep", "open/to-db", "open/dangling/x", "open/loop",
      "none",
      "other/to-open", "open/a/file", "other/../open",
    ]
    for path in names.map(tree.directory.path) + ["/", "/proc/self", "/proc/self/task"] {
      let known = PathRules.openDirectory(path, linux_path_only)
      let code = known < 0 ? errno : 0
      let walked = PathRules.walk(path, linux_path_only | O_DIRECTORY | O_CLOEXEC)
      #expect((walked < 0 ? errno : 0) == code, "\(path)")
      if known >= 0, walked >= 0 { #expect(DirectoryIdentity(of: walked) == DirectoryIdentity(of: known), "\(path)") }
      for descriptor in [known, walked] where descriptor >= 0 { close(descriptor) }
    }
    // A link in /proc is resolved by its text, and the resulting path is checked like any other.
    let file = open(tree.directory.path("open"), O_RDONLY | O_DIRECTORY)
    let walked = PathRules.walk("/proc/self/fd/\(file)", linux_path_only | O_DIRECTORY)
    #expect(walked < 0 || DirectoryIdentity(of: walked) == DirectoryIdentity(of: file))
    if walked >= 0 { close(walked) }
    close(file)
  }
}

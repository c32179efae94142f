import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

/// A parent directory is replaced by a symbolic link while a request waits for its next attempt.
@Suite(.timeLimit(.minutes(5))) struct SwappedParentTests {
  /// Renames `NAME` to `NAME.before` and creates a link to `target` in its place.
  private static func swap(_ name: String, for target: String, in directory: TemporaryDirectory) {
    rename(directory.path(name), directory.path(name + ".before"))
    symlink(target, directory.path(name))
  }

  private static func rules(_ directory: TemporaryDirectory) -> PathRules {
    PathRules(
      directories: [.init(directory.path("state"), reason: "it is protected")], roots: [directory.path("open")],
      outsideReason: "it is outside")
  }

  @Test(
    "a retry of the download is refused, and the link's target is not changed",
    arguments: ["../state", "../other"], [false, true])
  func download(_ target: String, creating: Bool) async throws {
    let directory = try TemporaryDirectory()
    for name in ["state", "other"] { try directory.file(name + "/file.bin", text: name) }
    try directory.directory("open/in")
    let isFirst = Watched(true)
    let file = FileBehaviour.file(size: 100_000).handler()
    let server = try LoopbackServer { request in
      guard isFirst.value else { return file(request) }
      isFirst.mutate { $0 = false }
      Self.swap("open/in", for: target, in: directory)
      return .response(503)
    }
    let response = await Session().download(
      try .of(server), to: try DownloadDestination(path: directory.path("open/in/file.bin")),
      options: creating ? [.removePreviousFile, .createIntermediateDirectories] : .removePreviousFile,
      rules: Self.rules(directory), interceptor: .atOnce(3)
    ).response()
    guard case .file(.permission(let text))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(text.hasSuffix(target == "../state" ? "it is protected" : "it is outside"))
    #expect(response.error?.isTransient == false)
    #expect(server.requests.count == 1)
    for name in ["state", "other"] {
      #expect(try directory.names(in: name) == ["file.bin"])
      #expect(try String(contentsOfFile: directory.path(name + "/file.bin"), encoding: .utf8) == name)
    }
  }

  @Test("a running download whose directory is swapped is stored in the directory that was checked")
  func whileRunning() async throws {
    let directory = try TemporaryDirectory()
    try directory.file("state/file.bin", text: "state")
    try directory.directory("open/in")
    let payload = Payload(size: 3 << 20, seed: 4)
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer { _ in
      Script([
        .status(200, headers: ["Content-Length": "\(payload.size)"]), .body(payload.bytes(0..<1000)), .signal(reached),
        .waitFor(proceed), .body(payload.bytes(1000..<payload.size)), .keepAlive,
      ])
    }
    let request = Session().download(
      try .of(server), to: try DownloadDestination(path: directory.path("open/in/file.bin")),
      options: .removePreviousFile, rules: Self.rules(directory))
    async let response = request.response()
    try await reached.wait()
    Self.swap("open/in", for: "../state", in: directory)
    proceed.open()
    #expect(await response.error == nil)
    #expect(try sha256(ofFile: directory.path("open/in.before/file.bin")) == payload.sha256)
    #expect(try String(contentsOfFile: directory.path("state/file.bin"), encoding: .utf8) == "state")
    #expect(try directory.names(in: "state") == ["file.bin"])
  }

  @Test("a retry of the upload is refused, and the file behind the link is not sent")
  func upload() async throws {
    let directory = try TemporaryDirectory()
    try directory.file("state/file.bin", text: "secret")
    try directory.file("open/in/file.bin", text: "public")
    let server = try LoopbackServer { request in
      if request.index == 0 { Self.swap("open/in", for: "../state", in: directory) }
      return .response(request.index == 0 ? 503 : 200)
    }
    var upload = FileUpload(
      request: try .of(server), source: directory.path("open/in/file.bin"), protocol: .plain)
    upload.rules = Self.rules(directory)
    let response = await Session().upload(upload, interceptor: .atOnce(3)).response()
    guard case .file(.permission)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(server.requests.map(\.bodySHA256) == [sha256(of: Data("public".utf8))])
  }

  /// Swaps the directory when the upload's temporary name is recorded. The source is already open then.
  private final class SwappingJournal: UploadJournal {
    let swap: @Sendable () -> Void
    init(_ swap: @escaping @Sendable () -> Void) { self.swap = swap }
    func record(_ ledger: UploadLedger, acknowledged: Int64) async throws { swap() }
  }

  @Test("an FTP upload sends the file that was checked, even if its directory is swapped afterwards")
  func remote() async throws {
    let ftp = try await FTPServer()
    let directory = try TemporaryDirectory()
    try directory.file("state/file.bin", text: "secret")
    try directory.file("open/in/file.bin", text: "public")
    var upload = FileUpload(
      request: try .to("ftp://user:secret@127.0.0.1:\(ftp.port)/file.bin"), source: directory.path("open/in/file.bin"))
    upload.rules = Self.rules(directory)
    let journal = SwappingJournal { Self.swap("open/in", for: "../state", in: directory) }
    let response = await Session().upload(upload, journal: journal).response()
    #expect(response.error != nil)
    for name in try FileManager.default.contentsOfDirectory(atPath: ftp.root) {
      #expect(try String(contentsOfFile: ftp.root + "/" + name, encoding: .utf8) == "public", "\(name)")
    }
  }

  @Test("part files in a protected directory are neither found nor removed")
  func partFiles() throws {
    let directory = try TemporaryDirectory()
    try directory.file("state/.x.part", text: "1")
    try directory.directory("open")
    symlink("../state", directory.path("open/in"))
    let rules = Self.rules(directory)
    PartialFiles.remove(".x.part", in: directory.path("open/in"), rules: rules)
    #expect(try directory.names(in: "state") == [".x.part"])
    #expect(PartialFiles.identity(ofFileAt: directory.path("open/in/.x.part"), rules: rules) == nil)
    #expect(PartialFiles.identity(ofFileAt: directory.path("open/in/.x.part")) != nil)
    #expect(throws: TransferError.self) {
      try PartialFiles.synchronizeDirectory(directory.path("open/in"), rules: rules)
    }
    PartialFiles.remove(".x.part", in: directory.path("open/in"))
    #expect(try directory.names(in: "state") == [])
  }
}

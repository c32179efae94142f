import Foundation
import Glibc
import TestSupport
import Testing

@Suite("transferctl add --checksums", .timeLimit(.minutes(5))) struct AddChecksumsTests {
  private static let content = Data("hello\n".utf8)
  private static let digest = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

  /// Files with the same content, and lists of checksums.
  private static func server(_ lists: [String: String] = [:]) throws -> LoopbackServer {
    try LoopbackServer { request in
      if let list = lists[request.path] { return .response(200, body: Data(list.utf8)) }
      return request.path.contains("SUMS") ? .response(404) : .response(200, body: content)
    }
  }

  /// A daemon, and the directory for temporary files of both programs.
  private static func daemon() async throws -> (Daemon, TemporaryDirectory) {
    let temporary = try TemporaryDirectory()
    return (try await Daemon(environment: ["TMPDIR": temporary.path]), temporary)
  }

  @Test("files that match are kept, one that differs fails, and one that is not listed is not added")
  func file() async throws {
    let daemon = try await Daemon()
    let server = try Self.server()
    let wrong = String(repeating: "0", count: 64)
    let sums = try daemon.directory.file(
      "SHA256SUMS", text: "\(Self.digest)  good\nSHA256 (dir/good2) = \(Self.digest)\n\(wrong) *bad\n")
    let right = try await daemon.run(
      ["add", "--checksums", sums, "--base", server.url("/x/"), "good", "dir/good2", "--wait"])
    #expect(right.status == 0 && right.lines == ["1", "2"], "\(right.stderr)")
    #expect(try await daemon.job("2").checksum == "sha-256=\(Self.digest)")
    let bad = try await daemon.run(["add", "--checksums", sums, server.url("/bad"), "--wait"])
    #expect(bad.status == 1 && bad.stderr.contains("checksum-mismatch"), "\(bad.stderr)")
    let alone = try await daemon.run(["add", "--checksums", sums, server.url("/other")])
    #expect(alone.status == 64 && alone.stdout.isEmpty && alone.stderr.contains("SHA256SUMS has no checksum"))
    let list = Data("\(server.url("/other"))\n\(server.url("/y/good"))\n".utf8)
    let mixed = try await daemon.run(
      ["add", "--checksums", sums, "-i", "-", "-o", "{n}.{name}", "--wait"], input: list)
    #expect(
      mixed.status == 64 && mixed.lines.count == 1 && mixed.stderr.hasPrefix("line 1: cannot add"), "\(mixed.stderr)")
    #expect(try await daemon.jobs().last?.destination.hasSuffix("/2.good") ?? false)
  }

  @Test("a list at a URL is fetched by the daemon, and leaves neither a job nor a file")
  func url() async throws {
    let (daemon, temporary) = try await Self.daemon()
    let server = try Self.server(["/SHA256SUMS": "\(Self.digest)  good\n"])
    let result = try await daemon.run(
      ["add", "--checksums", server.url("/SHA256SUMS"), server.url("/good"), "--header", "X-Secret: 1", "--wait"])
    #expect(result.status == 0 && result.lines.count == 1, "\(result.stderr)")
    let jobs = try await daemon.jobs()
    #expect(jobs.map(\.source) == [server.url("/good")] && jobs.first?.checksum == "sha-256=\(Self.digest)")
    #expect(try temporary.names().isEmpty && daemon.directory.names(in: "downloads") == ["good"])
    // Another server may have the list, so it gets no headers.
    #expect(server.requests.first?.headers["X-Secret"] == nil && server.requests.last?.headers["X-Secret"] == "1")
  }

  @Test("a list that cannot be fetched, is too large or is no list adds nothing and leaves nothing")
  func faults() async throws {
    let (daemon, temporary) = try await Self.daemon()
    let long = String(repeating: "#\n", count: (8 << 20) + 1)
    let server = try Self.server(["/html-SUMS": "<html>\n", "/long-SUMS": long])
    let cases: [(String, Int32, String)] = [
      ("/SUMS", 1, "http-404"), ("/long-SUMS", 1, "too-large"), ("/html-SUMS", 64, "line 1: is no checksum"),
    ]
    for (path, status, text) in cases {
      let result = try await daemon.run(["add", "--checksums", server.url(path), server.url("/good")])
      #expect(result.status == status && result.stdout.isEmpty && result.stderr.contains(text), "\(result.stderr)")
    }
    #expect(try await daemon.jobs().isEmpty)
    #expect(try temporary.names().isEmpty && daemon.directory.names(in: "downloads").isEmpty)
  }

  @Test("Ctrl-C while the list is fetched adds nothing and leaves nothing")
  func interrupt() async throws {
    let (daemon, temporary) = try await Self.daemon()
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(size: 1000).holding(after: 500, reached: reached, until: proceed))
    let child = try daemon.ctlStarted("add", "--checksums", server.url("/SUMS"), server.url("/good"))
    try await reached.wait()
    child.kill(SIGINT)
    let result = try await child.result()
    proceed.open()
    #expect(result.status == 130 && result.stdout.isEmpty, "\(result.stderr)")
    #expect(result.stderr.contains("interrupted; nothing was added"), "\(result.stderr)")
    #expect(try await daemon.jobs().isEmpty)
    #expect(try temporary.names().isEmpty && daemon.directory.names(in: "downloads").isEmpty)
  }

  @Test("a daemon with another directory for temporary files puts the list beside the downloads for that time")
  func privateTemporaryFiles() async throws {
    let temporary = try TemporaryDirectory()
    let shell = "mount -t tmpfs none \(temporary.path) && exec \"$@\""
    let daemon = try await Daemon(
      environment: ["TMPDIR": temporary.path],
      through: [try BuiltPrograms.system("unshare"), "-m", "/bin/sh", "-c", shell, "sh"])
    let server = try Self.server(["/SUMS": "\(Self.digest)  good\n"])
    let result = try await daemon.run(["add", "--checksums", server.url("/SUMS"), server.url("/good"), "--wait"])
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try temporary.names().isEmpty && daemon.directory.names(in: "downloads") == ["good"])
  }
}

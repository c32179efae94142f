import Foundation
import TestSupport
import Testing

/// Options that are sent as header fields, from every place where a job is described to the server.
@Suite("options that are header fields", .timeLimit(.minutes(5))) struct HeaderOptionTests {
  /// An option, its name in JSON, its header field, and a value.
  static let options = [
    ("--user-agent", "userAgent", "User-Agent", "Fetch/1.0 (it's me)"),
    ("--referer", "referer", "Referer", "https://host.example/list?page=2"),
  ]

  private static func server() throws -> LoopbackServer {
    try LoopbackServer { $0.method == "PUT" ? .response(201) : .response(200, body: Data("x".utf8)) }
  }

  @Test("add, upload, lists, show, export and import pass them on", arguments: options)
  func passed(_ option: String, _ name: String, _ field: String, _ value: String) async throws {
    let server = try Self.server()
    let daemon = try await Daemon()
    func sent(_ path: String) -> String? { server.requests.last { $0.path == path }?.headers[field] }
    let added = try await daemon.ctl("add", server.url("/add"), "-d", daemon.downloads, option, value, "--wait")
    #expect(added.status == 0 && sent("/add") == value, "\(added.stderr)")
    let source = try daemon.source("a", Payload(size: 10))
    let upload = try await daemon.ctl(
      "upload", source, "--to", server.url("/upload"), "--protocol", "plain", option, value, "--wait")
    #expect(upload.status == 0 && sent("/upload") == value, "\(upload.stderr)")

    // A line's own value takes precedence over the option.
    let lines = "\(server.url("/line-url"))\n{\"url\":\"\(server.url("/line-json"))\",\"\(name)\":\"\(value)/own\"}\n"
    let list = try await daemon.run(
      ["add", "-i", "-", "-d", daemon.downloads, option, value, "--wait"], input: Data(lines.utf8))
    #expect(list.status == 0, "\(list.stderr)")
    #expect(sent("/line-url") == value && sent("/line-json") == value + "/own")

    let paused = try await daemon.add(server.url("/imported"), "-d", daemon.downloads, option, value, "--paused")
    let shown = try await daemon.ctl("show", paused)
    #expect(shown.stdout.contains(value), "\(shown.stdout)")
    let options = try await daemon.curl("/v1/jobs/\(paused)").json["options"] as? [String: Any]
    #expect(options?[name] as? String == value)
    let exported = try await daemon.ctl("export", paused)
    #expect(try await daemon.ctl("remove", paused).status == 0)
    let imported = try await daemon.run(["import", "-"], input: Data(exported.stdout.utf8))
    #expect(imported.status == 0, "\(imported.stderr)")
    try await daemon.restart()
    _ = try await daemon.ctl("resume", "--all")
    #expect(try await daemon.ctl("wait", "--all").status == 0)
    #expect(sent("/imported") == value)
  }

  @Test(
    "they are refused beside the same field among the headers, and where there are no header fields", arguments: options
  )
  func refused(_ option: String, _ name: String, _ field: String, _ value: String) async throws {
    let daemon = try await Daemon()
    let url = "http://127.0.0.1:9/a"
    let twice = try await daemon.ctl("add", url, "-d", daemon.downloads, option, value, "--header", "\(field): other")
    #expect(twice.status == 64 && twice.stderr.contains(field), "\(twice.stderr)")
    let ftp = try await daemon.ctl("add", "ftp://127.0.0.1:9/a", "-d", daemon.downloads, option, value)
    #expect(ftp.status == 64 && ftp.stderr.contains("\(option) is for http"), "\(ftp.stderr)")
    for body in [
      #"{"source":"\#(url)","directory":"\#(daemon.downloads)","\#(name)":"a\u0000b"}"#,
      #"{"source":"\#(url)","directory":"\#(daemon.downloads)","\#(name)":"\#(value)","headers":{"\#(field)":"b"}}"#,
    ] {
      #expect(try await daemon.curl("/v1/jobs", "-d", body).status == 400, "\(body)")
    }
    #expect(try await daemon.jobs().isEmpty)
  }
}

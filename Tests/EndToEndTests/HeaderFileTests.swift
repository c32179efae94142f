import Foundation
import TestSupport
import Testing

@Suite("headers from files and descriptors", .timeLimit(.minutes(5))) struct HeaderFileTests {
  @Test(
    "the command line does not contain the secret, and the server gets it", arguments: ["file", "input", "descriptor"])
  func sent(_ way: String) async throws {
    let server = try LoopbackServer { _ in .response(200, text: "x") }
    let daemon = try await Daemon()
    let path = try daemon.directory.file("headers", text: "Authorization: Bearer topsecret\nX-Two: 2\n")
    let ctl = try BuiltPrograms.path("transferctl")
    let options =
      switch way {
      case "file": "--header @\(path)"
      case "input": "--header @- <\(path)"
      default: "--header-fd 7 7<\(path)"
      }
    let command =
      "exec \(ctl) add \(server.url("/a")) -d \(daemon.downloads) --wait --socket \(daemon.socketPath) \(options)"
    #expect(!command.contains("topsecret"))
    let result = try await Launch("/bin/sh", ["-c", command], directory: daemon.directory.path).run()
    #expect(result.status == 0, "\(result.stderr)")
    let headers = try #require(server.requests.first?.headers)
    #expect(headers["Authorization"] == "Bearer topsecret")
    #expect(headers["X-Two"] == "2")
    // It is not shown, and it is erased with the job.
    let id = result.lines.first ?? ""
    #expect(!(try await daemon.ctl("show", id).stdout.contains("topsecret")))
    #expect(try await daemon.ctl("remove", id).status == 0)
    let state = daemon.stateDirectory
    try await eventually("the secret to be erased") {
      try !FileManager.default.subpathsOfDirectory(atPath: state).contains { name in
        (try? Data(contentsOf: URL(fileURLWithPath: state + "/" + name)))?.firstRange(of: Data("topsecret".utf8)) != nil
      }
    }
  }

  @Test("a new URL can be read from a file or standard input")
  func url() async throws {
    let daemon = try await Daemon()
    let added = try await daemon.ctlLaunch(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads, "--paused"]).run()
    let id = added.lines.first ?? ""
    let path = try daemon.directory.file("url", text: "http://127.0.0.1:9/b?token=topsecret\n")
    #expect(try await daemon.ctl("set", id, "--url", "@\(path)").status == 0)
    #expect(try await daemon.ctl("show", id, "--format", "json").stdout.contains("127.0.0.1:9/b?token=***"))
    var launch = try daemon.ctlLaunch(["set", id, "--url", "@-"])
    launch.input = Data("http://127.0.0.1:9/c\n".utf8)
    #expect(try await launch.run().status == 0)
    launch.input = Data("http://127.0.0.1:9/c\nhttp://127.0.0.1:9/d\n".utf8)
    let two = try await launch.run()
    #expect(two.status == 64 && two.stderr.contains("must contain exactly one line"))
    #expect(try await daemon.ctl("set", id, "--url", "@/nonexistent").status == 64)
  }

  @Test("an unreadable source of headers adds nothing and is reported")
  func refused() async throws {
    let daemon = try await Daemon()
    for (words, message) in [
      (["--header", "@/nonexistent/headers"], "cannot read headers from /nonexistent/headers"),
      (["--header-fd", "77"], "descriptor 77: it is not open"),
    ] {
      let result = try await daemon.ctlLaunch(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads] + words).run()
      #expect(result.status == 64, "\(result.stderr)")
      #expect(result.stderr.contains(message), "\(result.stderr)")
    }
    #expect(try await daemon.ctl("status", "--format", "name").stdout.isEmpty)
  }
}

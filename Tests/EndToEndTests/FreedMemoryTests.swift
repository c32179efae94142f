import Foundation
import TestSupport
import Testing

/// The programs read no memory that they have freed.
@Suite("freed memory", .timeLimit(.minutes(5))) struct FreedMemoryTests {
  /// glibc overwrites what is freed, at once: without its caches of freed pieces, which keep their content
  /// (mallopt(3)).
  private static let environment = ["MALLOC_PERTURB_": "85", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"]

  @Test("jobs of each kind complete, and the daemon lives, while freed memory is overwritten")
  func jobs() async throws {
    let server = try LoopbackServer { request in
      request.method == "PUT" ? .response(201) : .response(200, body: Data("content".utf8))
    }
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let nginx = try await Nginx(
      .init(certificates: certificates, http2: true, directives: "location / { return 200 \"content\"; }"))
    let daemon = try await Daemon(environment: Self.environment)
    let source = try daemon.source("up", Payload(size: 10))
    for arguments in [
      ["add", server.url("/a"), "-d", daemon.downloads, "--header", "X-A: b", "--remote-time"],
      ["add", server.url("/b"), "-d", daemon.downloads, "--if-changed"],
      ["upload", source, "--to", server.url("/in/")],
      ["add", server.url("/c"), "--then-upload", server.url("/in/")],
      [
        "add", nginx.url("/d"), "-d", daemon.downloads, "--ca", certificates.authority, "--cert", client.certificate,
        "--cert-key", client.key,
      ],
    ] {
      let result = try await daemon.ctlLaunch(arguments + ["--wait"]).run()
      #expect(result.status == 0, "\(arguments): \(result.stderr)")
    }
    #expect(try await daemon.ctl("daemon", "status").status == 0)
  }
}

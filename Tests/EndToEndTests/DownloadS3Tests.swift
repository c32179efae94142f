import Foundation
import TestSupport
import Testing

/// `add s3://bucket/key`.
@Suite("downloads from S3", .timeLimit(.minutes(5))) struct DownloadS3Tests {
  private static let keys = ["AWS_ACCESS_KEY_ID": S3Peer.accessKey, "AWS_SECRET_ACCESS_KEY": S3Peer.secretKey]

  @Test("objects arrive from a server that verifies signatures, by one connection and by several")
  func verified() async throws {
    let peer = try await PythonPeer.nanio()
    let daemon = try await Daemon(environment: Self.keys)
    let payload = Payload(size: 24 << 20 + 3, seed: 71)
    let source = try daemon.source("big", payload)
    for key in ["plain", "dir/a+b%20c"] {
      let target = ["--to", "s3://bucket/\(key)", "--endpoint", peer.url("")]
      #expect(try await daemon.run(["upload", source, "--wait"] + target).status == 0)
    }
    for (key, segments, name) in [("plain", "1", "one"), ("dir/a+b%20c", "4", "four")] {
      let result = try await daemon.run([
        "add", "s3://bucket/\(key)", "-o", name, "--endpoint", peer.url(""), "--segments", segments, "--wait",
      ])
      #expect(result.status == 0, "\(result.stderr)")
      #expect(try sha256(ofFile: daemon.downloaded(name)) == payload.sha256, "\(key)")
    }
    let missing = try await daemon.finished(
      try await daemon.add("s3://bucket/none", "--endpoint", peer.url(""), "--retries", "0"))
    #expect(missing.error?.code == "http-404")
    let wrong = try await daemon.finished(
      try await daemon.add("s3://\(S3Peer.accessKey):wrong@bucket/plain", "-o", "w", "--endpoint", peer.url("")))
    #expect(wrong.error?.code == "http-403" && wrong.source == "s3://bucket/plain")
    #expect(!daemon.log.contains(S3Peer.secretKey))
  }

  @Test("a download is resumed, also by another daemon, and each request has a signature of its own")
  func resumed() async throws {
    let payload = Payload(size: 8 << 20, seed: 72)
    let held = Gate()
    let server = try LoopbackServer(
      .file(payload).dropping(after: 2 << 20, on: .first(1)).holding(after: 2 << 20, until: held, on: .at(1)))
    let daemon = try await Daemon(environment: Self.keys)
    let id = try await daemon.add("s3://bucket/dir/big", "--endpoint", server.url(""), "-o", "big", "--segments", "1")
    try await daemon.waitForParts(holding: 4 << 20)
    try await daemon.kill9()
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "big")
    let requests = server.requests
    #expect(requests.allSatisfy { $0.path == "/bucket/dir/big" && $0.method == "GET" })
    #expect(requests.dropFirst().allSatisfy { $0.start > 0 })
    let signatures = requests.compactMap { $0.headers["Authorization"] }
    #expect(signatures.count == requests.count && requests.count == 3)
    #expect(signatures.allSatisfy { $0.hasPrefix("AWS4-HMAC-SHA256 Credential=\(S3Peer.accessKey)/") })
    let detail = try await daemon.curl("/v1/jobs/\(id)").json
    #expect((detail["options"] as? [String: Any])?["endpoint"] as? String == server.url(""))
  }

  @Test(
    "what means nothing is a usage error",
    arguments: [
      ["s3://bucket/", "-o", "a"], ["s3://bucket", "-o", "a"], ["s3://bucket/a?x=1"],
      ["https://host.example/a", "--endpoint", "https://s3.example"], ["https://host.example/a", "--region", "r"],
      ["s3://bucket/a", "--endpoint", "ftp://h/"], ["s3://bucket/a", "--cookies", "/dev/null"],
    ])
  func usage(_ arguments: [String]) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add"] + arguments)
    #expect(result.status == 64 && result.stdout.isEmpty, "\(result.stderr)")
  }
}

import Foundation
import TestSupport
import Testing

/// --segments: several connections for one file.
@Suite("segments", .timeLimit(.minutes(5))) struct SegmentTests {
  private static let mebibyte: Int64 = 1 << 20

  /// The range of a request's header field, or the whole file.
  private func range(_ request: ServedRequest, _ payload: Payload) -> Range<Int64> {
    request.range(of: payload.size) ?? 0..<payload.size
  }

  @Test("after kill -9 every connection's bytes count but those of its last piece, and the file is right")
  func kill() async throws {
    let payload = Payload(size: 64 << 20, seed: 11)
    // Each connection gets 3 MiB, and nothing more until the daemon is killed.
    let server = try LoopbackServer(.file(payload).holding(after: 3 << 20, until: Gate(), on: .first(8)))
    let daemon = try await Daemon()
    let id = try await daemon.add(
      server.url("/a"), "-o", "a", "--segments", "8", "--checksum", "sha-256=\(payload.sha256)")
    let first = try await server.waitForRequests(8).map { range($0, payload).lowerBound }
    try await daemon.waitForBytes(24 << 20, of: id)
    try await daemon.kill9()
    try await daemon.start()
    try await daemon.expectCompleted(id, payload, as: "a")
    let again = server.requests.dropFirst(8).map { range($0, payload) }
    var twice: Int64 = 0
    for start in first {
      // Splits make requests overlap each other, so the earliest byte of each part counts, not their sum.
      let had = start..<start + 3 << 20
      guard let earliest = again.map({ $0.clamped(to: had) }).filter({ !$0.isEmpty }).map(\.lowerBound).min() else {
        continue
      }
      twice += had.upperBound - earliest
    }
    #expect(twice <= 8 * Self.mebibyte, "\(twice) bytes were fetched twice")
    #expect(try daemon.directory.names(in: "downloads") == ["a"])
  }

  @Test("a pause, a restart and a resume fetch nothing twice, and another number of segments changes nothing")
  func pause() async throws {
    let payload = Payload(size: 32 << 20, seed: 12)
    let server = try LoopbackServer(.file(payload).holding(after: 2 << 20, until: Gate(), on: .first(4)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--segments", "4")
    try await daemon.waitForBytes(8 << 20, of: id)
    _ = try await daemon.ctl("pause", id)
    try await daemon.reached("paused", by: id)
    try await daemon.restart()
    #expect(try await daemon.curl("/v1/jobs/\(id)").json["bytesDone"] as? Int64 == 8 << 20)
    _ = try await daemon.ctl("resume", id)
    try await daemon.expectCompleted(id, payload, as: "a")
    let first = server.requests.prefix(4).map { range($0, payload).lowerBound }
    for request in server.requests.dropFirst(4) {
      let range = range(request, payload)
      for start in first { #expect(!(start..<start + 2 << 20).contains(range.lowerBound)) }
    }
  }

  @Test("removing a job removes its part file and the map of its pieces")
  func remove() async throws {
    let payload = Payload(size: 32 << 20, seed: 13)
    let server = try LoopbackServer(.file(payload).holding(after: 2 << 20, until: Gate()))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a", "--segments", "4")
    try await daemon.waitForBytes(8 << 20, of: id)
    #expect(try daemon.directory.names(in: "downloads").contains { $0.hasSuffix(".part.map") })
    _ = try await daemon.ctl("cancel", id)
    try await daemon.reached("cancelled", by: id)
    _ = try await daemon.ctl("remove", id)
    #expect(try daemon.directory.names(in: "downloads").isEmpty)
  }

  @Test("nginx gives each of eight connections its rate, from the command line and from JSON")
  func nginx() async throws {
    let nginx = try await Nginx(.init(bytesPerSecond: 4 << 20))
    let payload = Payload(size: 24 << 20, seed: 14)
    try payload.write(to: nginx.root + "/a")
    let daemon = try await Daemon()
    let id = try await daemon.add(nginx.url("/a"), "-o", "a", "--segments", "8")
    try await daemon.expectCompleted(id, payload, as: "a")
    let options = try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any]
    #expect(options?["segments"] as? Int == 8)
    #expect(try await daemon.ctl("show", id).stdout.contains("segments"))
    let cases = [("3", true), ("\"auto\"", true), ("0", false), ("33", false), ("\"x\"", false)]
    for (number, (segments, isValid)) in cases.enumerated() {
      let body =
        #"{"url":"\#(nginx.url("/a"))","destination":"\#(daemon.downloads)/\#(number)","segments":\#(segments)}"#
      let answer = try await daemon.curl("/v1/jobs", "-d", body)
      #expect(answer.status == (isValid ? 201 : 400), "\(segments): \(answer.body)")
    }
  }

  @Test("the configuration says what auto means for a server, and a job's own number stands above it")
  func origins() async throws {
    let payload = Payload(size: 8 << 20, seed: 15)
    let server = try LoopbackServer(.file(payload).dripping(bytesPerSecond: 4 << 20))
    let daemon = try await Daemon(config: "transferd:\n  origins:\n    - {match: 127.0.0.1, segments: 4}\n")
    let several = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.expectCompleted(several, payload, as: "a")
    #expect(server.counters.maxOpenRequests > 1)
    let before = server.requests.count
    let one = try await daemon.add(server.url("/b"), "-o", "a", "--segments", "1", "--replace")
    try await daemon.expectCompleted(one, payload, as: "a")
    #expect(server.requests.count == before + 1)
  }

  @Test("segments mean nothing for a protocol without ranges: more than one is refused, and one is not")
  func otherProtocols() async throws {
    let daemon = try await Daemon()
    for url in ["ftp://127.0.0.1:9/a", "sftp://127.0.0.1:9/a"] {
      let refused = try await daemon.ctl("add", url, "-d", daemon.downloads, "--segments", "2", "--paused")
      #expect(refused.status == 64 && refused.stderr.contains("segments"), "\(refused.status) \(refused.stderr)")
      let accepted = try await daemon.ctl(
        "add", url, "-d", daemon.downloads, "--segments", "1", "--paused", "--replace")
      #expect(accepted.status == 0, "\(accepted.stderr)")
      _ = try await daemon.ctl("remove", "--all")
    }
  }

  @Test("a mistake is named before a job exists", arguments: ["0", "33", "-1", "two", "1.5", "", "04"])
  func mistakes(_ segments: String) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(
      ["add", "http://127.0.0.1:9/a", "-d", daemon.downloads, "--segments=\(segments)"])
    #expect(result.status == 64 && !result.stderr.isEmpty, "\(result.status) \(result.stderr)")
    #expect(try await daemon.jobs().isEmpty)
  }
}

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("a job of higher priority takes a slot", .timeLimit(.minutes(5))) struct PreemptionTests {
  /// A server that sends most of a file and then waits, at the first request for it.
  private func server(_ proceed: Gate, ranges: Bool) throws -> LoopbackServer {
    let payload = Payload(size: 3_000_000)
    return try LoopbackServer(files: [
      "/long": FileBehaviour.file(payload).serving { file, _ in file.honoursRange = ranges }
        .holding(after: 2_500_000, until: proceed),
      "/urgent": .file(size: 1000),
    ])
  }

  @Test("a resumable download gives up its slot, keeps its bytes, and costs no attempt")
  func takes() async throws {
    let proceed = Gate()
    let server = try server(proceed, ranges: true)
    let daemon = try await Daemon("--max-active", "1")
    let long = try await daemon.add(server.url("/long"), "-d", daemon.downloads, "--segments", "1")
    try await server.waitForRequests(1)
    let urgent = try await daemon.ctl("add", server.url("/urgent"), "-d", daemon.downloads, "--priority", "5", "--wait")
    #expect(urgent.status == 0, "\(urgent.stderr)")
    proceed.open()
    #expect(try await daemon.ctl("wait", long).status == 0)
    let paths = server.requests.map(\.path)
    #expect(paths == ["/long", "/urgent", "/long"], "\(paths)")
    #expect(server.requests.last?.headers["range"] != nil)
    let events = try await daemon.ctl("events", long)
    #expect(events.stdout.contains("a job with a higher priority took its slot"), "\(events.stdout)")
    #expect(try await daemon.job(long).attempt == 1)
  }

  @Test("a download from a server without ranges keeps its slot, and so does one of equal priority")
  func keeps() async throws {
    let (proceed, other) = (Gate(), Gate())
    let server = try server(proceed, ranges: false)
    let equal = try self.server(other, ranges: true)
    let daemon = try await Daemon("--max-active", "2")
    let long = try await daemon.add(server.url("/long"), "-d", daemon.downloads, "--segments", "1")
    let same = try await daemon.add(
      equal.url("/long"), "-d", daemon.downloads, "-o", "same", "--segments", "1", "--priority", "5")
    try await server.waitForRequests(1)
    try await equal.waitForRequests(1)
    let urgent = try await daemon.add(server.url("/urgent"), "-d", daemon.downloads, "--priority", "5")
    let why = try await daemon.ctl("why", urgent)
    #expect(why.stdout.contains("2 transfers run, as many as maxActive allows"), "\(why.stdout)")
    proceed.open()
    #expect(try await daemon.ctl("wait", long, urgent).status == 0)
    other.open()
    #expect(try await daemon.ctl("wait", same).status == 0)
    #expect(server.requests.map(\.path) == ["/long", "/urgent"] && equal.requests.count == 1)
  }
}

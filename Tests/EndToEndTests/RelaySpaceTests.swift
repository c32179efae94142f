import Foundation
import TestSupport
import Testing

/// The room of relays: `spoolMax` and `minFree`.
@Suite("the spool of relays", .timeLimit(.minutes(5))) struct RelaySpaceTests {
  @Test(
    "a file above spoolMax fails after the first response, or as soon as it has grown that far",
    arguments: [false, true])
  func tooLarge(isChunked: Bool) async throws {
    let file = FileBehaviour.file(size: 3 << 20)
    let server = try LoopbackServer(isChunked ? file.chunked() : file)
    let (target, daemon) = (try PutServer(), try await Daemon(config: "transferd:\n  spoolMax: 2M\n"))
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"))
    let job = try await daemon.finished(id)
    #expect(job.state == "failed" && job.error?.code == "too-large")
    #expect(job.error?.message.contains("spoolMax") == true, "\(job.error?.message ?? "")")
    #expect(server.requests.count == 1 && target.puts.isEmpty)
    try await daemon.waitForNoCopies()
    #expect(try await daemon.relay(server.url("/b"), to: target.url("/in/"), "--max-size", "1M") != id)
  }

  @Test("a relay waits for room with the reason disk, without asking its server, and begins when another one ends")
  func waits() async throws {
    let (one, two) = (Payload(size: 4 << 20, seed: 1), Payload(size: 5 << 20, seed: 2))
    let server = try LoopbackServer(files: ["/one": .file(one), "/two": .file(two)])
    let (reached, held) = (Gate(), Gate())
    let (target, daemon) = (
      try PutServer(reached: reached, until: held), try await Daemon(config: "transferd:\n  spoolMax: 8M\n")
    )
    let first = try await daemon.relay(server.url("/one"), to: target.url("/in/"))
    try await reached.wait()
    let second = try await daemon.relay(server.url("/two"), to: target.url("/in/"))
    try await daemon.failed(with: "disk-full", second)
    try await eventually("the wait for room") { try await daemon.waitingReason(second) == "disk" }
    #expect(try await daemon.job(second).bytesTotal == two.size && daemon.copies.count <= 2)
    let why = try await daemon.ctl("why", second).stdout
    #expect(why.contains("spoolMax") && why.contains("waits"), "\(why)")
    // What is on disk still counts after a restart.
    try await daemon.restart(by: SIGKILL)
    #expect(try await daemon.ctl("retry", second).status == 0)
    try await eventually("the wait for room") { try await daemon.waitingReason(second) == "disk" }
    #expect(server.requests.count { $0.path == "/two" } == 1)
    held.open()
    #expect(try await daemon.finished(first).state == "completed")
    #expect(try await daemon.finished(second).state == "completed")
    #expect(target.holds("/in/one", one) && target.holds("/in/two", two))
    try await daemon.waitForNoCopies()
  }

  @Test("a larger spoolMax applies after a reload; a removed relay gives its room back")
  func changes() async throws {
    let server = try LoopbackServer(.file(size: 4 << 20, seed: 3))
    let (reached, held) = (Gate(), Gate())
    let (target, daemon) = (
      try PutServer(reached: reached, until: held), try await Daemon(config: "transferd:\n  spoolMax: 5M\n")
    )
    let first = try await daemon.relay(server.url("/one"), to: target.url("/in/"))
    try await reached.wait()
    let others = [
      try await daemon.relay(server.url("/two"), to: target.url("/in/")),
      try await daemon.relay(server.url("/three"), to: target.url("/in/")),
    ]
    for id in others {
      try await eventually("the wait for room") { try await daemon.waitingReason(id) == "disk" }
    }
    try await daemon.reconfigure("  spoolMax: 9M\n")
    try await eventually("one more upload") { target.puts.count == 2 }
    #expect(try await daemon.ctl("remove", first).status == 0)
    held.open()
    for id in others { #expect(try await daemon.finished(id).state == "completed") }
    try await daemon.waitForNoCopies()
  }

  @Test("two files of unknown length that do not fit together are both relayed in the end")
  func unknownLengths() async throws {
    let (one, two) = (Payload(size: 6 << 20, seed: 4), Payload(size: 6 << 20, seed: 5))
    // Both have come halfway before either goes on.
    let (reached, proceed) = ([Gate(), Gate()], Gate())
    let server = try LoopbackServer(files: [
      "/one": .file(one).chunked().holding(after: 4 << 20, reached: reached[0], until: proceed),
      "/two": .file(two).chunked().holding(after: 4 << 20, reached: reached[1], until: proceed),
    ])
    let (target, daemon) = (try PutServer(), try await Daemon(config: "transferd:\n  spoolMax: 9M\n"))
    let ids = [
      try await daemon.relay(server.url("/one"), to: target.url("/in/")),
      try await daemon.relay(server.url("/two"), to: target.url("/in/")),
    ]
    for gate in reached { try await gate.wait() }
    proceed.open()
    for id in ids { #expect(try await daemon.finished(id).state == "completed") }
    #expect(target.holds("/in/one", one) && target.holds("/in/two", two))
    try await daemon.waitForNoCopies()
  }

  @Test("relays leave minFree on the file system of the spool")
  func minFree() async throws {
    let server = try LoopbackServer(.file(size: 1000, seed: 6))
    let (target, daemon) = (try PutServer(), try await Daemon(config: "transferd:\n  minFree: 99999999G\n"))
    let id = try await daemon.relay(server.url("/a"), to: target.url("/in/"))
    try await eventually("the wait for the disk") { try await daemon.waitingReason(id) == "disk" }
    #expect(target.puts.isEmpty)
    try await daemon.reconfigure("  minFree: 0\n")
    #expect(try await daemon.finished(id).state == "completed")
  }
}

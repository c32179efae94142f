import Foundation
import Glibc
import TestSupport
import Testing

/// U2, U5: uploads and a daemon that is killed.
@Suite("kill -9 during an upload", .timeLimit(.minutes(4))) struct UploadKillTests {
  @Test("of the plain kind sends all again, and the server ends with the right bytes")
  func plain() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    let payload = Payload(size: 6 << 20, seed: 11)
    let path = try daemon.source("a", payload)
    let id = try await daemon.upload(path, "--to", nginx.url("/a"), "--limit-rate", "8M")
    var random = SeededGenerator(seed: 5)
    for _ in 0..<5 {
      try await daemon.reached("running", by: id)
      try await Task.sleep(for: .milliseconds(Int.random(in: 0...200, using: &random)))
      try await daemon.restart(by: SIGKILL)
    }
    #expect(try await daemon.finished(id, timeout: .seconds(90)).state == "completed")
    #expect(try sha256(ofFile: nginx.root + "/a") == payload.sha256)
  }

  @Test("by tus goes on ten times where the server is, and sends nothing twice that it has")
  func tus() async throws {
    let tus = try ScriptedTus()
    let daemon = try await Daemon()
    let payload = Payload(size: 12 << 20, seed: 12)
    let path = try daemon.source("disk.img", payload)
    let id = try await daemon.upload(path, "--to", tus.url, "--protocol", "tus", "--limit-rate", "4M")
    for kill in 1...10 {
      try await eventually("\(kill) MiB at the server") { tus.bytesArrived > Int64(kill) << 20 }
      try await daemon.restart(by: SIGKILL)
    }
    #expect(try await daemon.ctl("set", id, "--limit-rate", "0").status == 0)
    let job = try await daemon.finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    #expect(tus.requests("POST").count == 1)
    let name = try #require(tus.uploads.first)
    #expect(sha256(of: tus.bytes(of: name)) == payload.sha256)
    #expect(tus.bytesArrived == payload.size)
  }

  @Test("a cancelled upload leaves nothing at the server, also when it was down and the daemon killed", arguments: [false, true])
  func cancelled(isRemoved: Bool) async throws {
    let allows = Gate()
    let isOpen = Watched(false)
    let tus = try ScriptedTus { request, _ in
      request.method == "DELETE" && !isOpen.value ? .instead(.response(503)) : nil
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 8 << 20))
    let id = try await daemon.upload(path, "--to", tus.url, "--protocol", "tus", "--limit-rate", "1M")
    try await eventually("bytes at the server") { tus.bytesArrived > 1 << 18 }
    #expect(try await daemon.ctl(isRemoved ? "remove" : "cancel", id).status == 0)
    try await tus.server.waitForRequests(1) { $0.method == "DELETE" }
    try await daemon.kill9()
    isOpen.mutate { $0 = true }
    allows.open()
    try await daemon.start()
    try await eventually("the upload to be taken back") { tus.uploads.isEmpty }
    if !isRemoved { try await daemon.told("took back", of: id) }
    // And no more.
    try await daemon.restart()
    let count = tus.requests("DELETE").count
    try await Task.sleep(for: .milliseconds(300))
    #expect(tus.requests("DELETE").count == count)
  }

  @Test("a paused upload by tus keeps what the server has")
  func paused() async throws {
    let tus = try ScriptedTus()
    let daemon = try await Daemon()
    let payload = Payload(size: 4 << 20)
    let path = try daemon.source("a", payload)
    let id = try await daemon.upload(path, "--to", tus.url, "--protocol", "tus", "--limit-rate", "2M")
    try await eventually("bytes at the server") { tus.bytesArrived > 1 << 20 }
    #expect(try await daemon.ctl("pause", id).status == 0)
    #expect(tus.uploads.count == 1)
    #expect(try await daemon.ctl("resume", id).status == 0)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(tus.bytesArrived == payload.size)
    #expect(tus.requests("POST").count == 1)
  }
}

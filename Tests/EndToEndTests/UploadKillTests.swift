import Foundation
import Glibc
import TestSupport
import Testing

/// Uploads continue after the daemon was killed, and cancelled ones are deleted on the server.
@Suite("kill -9 during an upload", .timeLimit(.minutes(5))) struct UploadKillTests {
  @Test("a plain upload is sent again from its first byte, and the server has the right bytes")
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

  /// A tus server that accepts this many bytes of each of the first requests, reports them, and then stalls.
  private func holding(_ bytes: Int64, _ moments: [Gate]) throws -> ScriptedTus {
    try ScriptedTus { request, number in
      guard request.method == "PATCH", number < moments.count else { return nil }
      return .take(bytes, then: [.signal(moments[number]), .stall])
    }
  }

  @Test("a tus upload resumes ten times at the server's offset and sends no acknowledged byte twice")
  func tus() async throws {
    let moments = (0..<10).map { _ in Gate() }
    let tus = try holding(1 << 20, moments)
    let daemon = try await Daemon()
    let payload = Payload(size: 12 << 20, seed: 12)
    let path = try daemon.source("disk.img", payload)
    let id = try await daemon.upload(path, "--to", tus.url, "--protocol", "tus")
    for moment in moments {
      try await moment.wait(timeout: .seconds(60))
      try await daemon.restart(by: SIGKILL)
    }
    let job = try await daemon.finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    #expect(tus.requests("POST").count == 1)
    let name = try #require(tus.uploads.first)
    #expect(sha256(of: tus.bytes(of: name)) == payload.sha256)
    #expect(tus.bytesArrived == payload.size)
  }

  @Test(
    "a cancelled upload leaves nothing on the server, even if the server was down and the daemon killed",
    arguments: [false, true])
  func cancelled(isRemoved: Bool) async throws {
    let isOpen = Watched(false)
    let reached = Gate()
    let tus = try ScriptedTus { request, number in
      switch request.method {
      case "PATCH": .take(1 << 18, then: [.signal(reached), .stall])
      case "DELETE" where !isOpen.value: .instead(.response(503))
      default: nil
      }
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 8 << 20))
    let id = try await daemon.upload(path, "--to", tus.url, "--protocol", "tus")
    try await reached.wait()
    #expect(try await daemon.ctl(isRemoved ? "remove" : "cancel", id).status == 0)
    try await tus.server.waitForRequests(1) { $0.method == "DELETE" }
    #expect(tus.uploads.count == 1)
    try await daemon.kill9()
    isOpen.mutate { $0 = true }
    try await daemon.start()
    try await eventually("the upload to be deleted") { tus.uploads.isEmpty }
    try await daemon.waitForHistory("deleted the unfinished upload", of: id)
    // The cleanup of a later upload shows that the first one is not repeated.
    let (deletions, patches) = (tus.requests("DELETE").count, tus.requests("PATCH").count)
    try await daemon.restart()
    let later = try await daemon.upload(
      try daemon.source("b", Payload(size: 8 << 20)), "--to", tus.url, "--protocol", "tus")
    try await tus.server.waitForRequests(patches + 1) { $0.method == "PATCH" }
    #expect(try await daemon.ctl("cancel", later).status == 0)
    try await daemon.waitForHistory("deleted the unfinished upload", of: later)
    #expect(tus.requests("DELETE").count == deletions + 1)
  }

  @Test("a paused tus upload keeps the server's bytes")
  func paused() async throws {
    let reached = Gate()
    let tus = try holding(1 << 20, [reached])
    let daemon = try await Daemon()
    let payload = Payload(size: 4 << 20)
    let path = try daemon.source("a", payload)
    let id = try await daemon.upload(path, "--to", tus.url, "--protocol", "tus")
    try await reached.wait()
    #expect(try await daemon.ctl("pause", id).status == 0)
    #expect(tus.uploads.count == 1)
    #expect(try await daemon.ctl("resume", id).status == 0)
    #expect(try await daemon.finished(id).state == "completed")
    #expect(tus.bytesArrived == payload.size)
    #expect(tus.requests("POST").count == 1)
  }
}

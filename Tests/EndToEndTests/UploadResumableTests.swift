import Foundation
import Glibc
import ResumableServer
import TestSupport
import Testing

/// Uploads by the IETF draft "Resumable Uploads for HTTP".
@Suite("resumable uploads", .timeLimit(.minutes(5))) struct UploadResumableTests {
  @Test("an upload that is killed ten times resumes at the server's offset and sends no acknowledged byte twice")
  func kills() async throws {
    let moments = (0..<10).map { _ in Gate() }
    let server = try ScriptedResumable { request, number in
      let index = request.method == "PUT" ? 0 : request.method == "PATCH" ? number + 1 : moments.count
      return index < moments.count ? .take(700_000, then: [.signal(moments[index]), .stall]) : nil
    }
    let daemon = try await Daemon()
    let payload = Payload(size: 10 << 20, seed: 41)
    let path = try daemon.source("disk.img", payload)
    let id = try await daemon.upload(path, "--to", server.url, "--protocol", "resumable")
    for moment in moments {
      try await moment.wait(timeout: .seconds(60))
      // Bytes that arrived without an acknowledgement are sent again.
      try await daemon.waitForResumeData(id, containing: "u0")
      try await daemon.restart(by: SIGKILL)
    }
    let job = try await daemon.finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    #expect(server.requests("PUT").count == 1)
    #expect(sha256(of: server.bytes(of: "u0")) == payload.sha256)
    #expect(server.bytesArrived == payload.size)
  }

  @Test("a cancelled upload is deleted on the server, even if the server refused at first")
  func cancelled() async throws {
    let (isOpen, reached) = (Watched(false), Gate())
    let server = try ScriptedResumable { request, _ in
      switch request.method {
      case "PUT": .take(1 << 18, then: [.signal(reached), .stall])
      case "DELETE" where !isOpen.value: .instead([.reset])
      default: nil
      }
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 8 << 20))
    let id = try await daemon.upload(path, "--to", server.url, "--protocol", "resumable")
    try await reached.wait()
    try await daemon.waitForResumeData(id, containing: "u0")
    #expect(try await daemon.ctl("cancel", id).status == 0)
    try await server.server.waitForRequests(1) { $0.method == "DELETE" }
    #expect(server.uploads == ["u0"])
    try await daemon.kill9()
    isOpen.mutate { $0 = true }
    try await daemon.start()
    try await eventually("the upload to be deleted") { server.uploads.isEmpty }
  }

  @Test(
    "a final refusal of the target fails the job, and a 104 of an unknown version is ignored",
    arguments: [403, 404, 413])
  func refused(_ status: Int) async throws {
    let server = try ScriptedResumable { request, _ in
      request.method == "PUT"
        ? .instead(
          [
            .raw(
              Data(
                "HTTP/1.1 104 X\r\nUpload-Draft-Interop-Version: 8\r\nLocation: /uploads/u0\r\n\r\n".utf8)),
            .readBody(), .status(status, headers: ["Content-Length": "0"]), .keepAlive,
          ]) : nil
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 1000))
    #expect(
      try await daemon.ctl("upload", path, "--to", server.url, "--protocol", "resumable", "--wait").status == 1)
    let job = try await daemon.job("1")
    #expect(job.error?.code == "http-\(status)" && job.attempt == 1, "\(String(describing: job.error))")
  }

  @Test("a server that announces an earlier draft version is used with it, and found by --protocol auto")
  func automatic() async throws {
    let peer = try await UploadPeer(.resumable)
    let payload = Payload(size: 3 << 20)
    let path = try peer.daemon.source("x", payload)
    let result = try await peer.daemon.ctl("upload", path, "--to", peer.collection, "--wait")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try peer.holds("x", payload))
  }
}

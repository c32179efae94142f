import Foundation
import Glibc
import TestSupport
import Testing

/// Uploads by each protocol arrive exactly once and resume, tested with independent servers.
@Suite("uploads by each protocol", .timeLimit(.minutes(5))) struct UploadProtocolTests {
  private static let sizes: [Int64] = [
    0, 1, 5 << 20 - 1, 5 << 20, 5 << 20 + 1, 8 << 20 - 1, 8 << 20 + 1, 16 << 20 - 1, 16 << 20, 24 << 20 + 1,
  ]

  @Test("files of every size are uploaded exactly, without any other file", arguments: UploadPeer.Kind.allCases)
  func sizes(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    var paths: [String] = []
    let payloads = Self.sizes.map { Payload(size: $0, seed: UInt64($0) + 7) }
    for payload in payloads { paths.append(try peer.daemon.source("f \(payload.size).bin", payload)) }
    let result = try await peer.daemon.run(
      ["upload"] + paths + ["--to", peer.collection, "--wait"] + peer.options, timeout: .seconds(120))
    #expect(result.status == 0, "\(result.stderr)")
    for payload in payloads { #expect(try peer.holds("f \(payload.size).bin", payload), "\(payload.size)") }
    #expect(try peer.names().count == payloads.count)
    for job in try await peer.daemon.jobs() {
      let isDone = job.state == "completed" && job.attempt == 1
      // The attempts say what went wrong.
      let attempts = isDone ? "" : try await peer.daemon.ctl("show", "\(job.id)").stdout
      #expect(isDone, "\(attempts)")
      #expect(job.bytesDone == job.bytesTotal)
    }
  }

  /// The bytes that may be lost with a connection: those in the buffers of the sockets and the proxy.
  private static let buffers: Int64 = 6 << 20

  @Test(
    "an upload that is killed ten times completes and resumes at the server's offset",
    arguments: UploadPeer.Kind.allCases)
  func kills(_ kind: UploadPeer.Kind) async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let peer = try await UploadPeer(kind)
    let daemon = peer.daemon
    let payload = Payload(size: 56 << 20 + 3, seed: seed)
    let path = try daemon.source("big.img", payload)
    let id = try await peer.upload(path, "--limit-rate", "6M")
    for _ in 0..<10 {
      try await daemon.reached("running", by: id)
      try await Task.sleep(for: .milliseconds(Int.random(in: 0...300, using: &random)))
      #expect(try await daemon.job(id).state != "failed", "seed \(seed)")
      try await daemon.kill9()
      // An incomplete file never has its final name, if the server supports other names.
      if kind != .tus, kind != .scp, kind != .resumable, try peer.names().contains("big.img") {
        #expect(try peer.holds("big.img", payload))
      }
      try await daemon.start()
    }
    _ = try await daemon.ctl("set", id, "--limit-rate", "1G")
    let job = try await daemon.finished(id, timeout: .seconds(120))
    #expect(job.state == "completed", "seed \(seed): \(job.error?.message ?? "")")
    #expect(try peer.holds("big.img", payload), "seed \(seed)")
    let names = try peer.names()
    // A tus server names the upload. A kill between its response and the record of that name leaves an empty upload there.
    #expect(kind == .tus ? (1...2).contains(names.count) : names.count == 1, "seed \(seed): \(names)")
    guard kind.resumes else { return }
    // With S3 the incomplete parts, four at a time. `set` interrupts one more attempt.
    let each = kind == .s3 ? 4 * 8 << 20 : Self.buffers
    #expect(peer.bytesReceived <= payload.size + 11 * each, "seed \(seed)")
  }

  @Test(
    "a cancelled upload leaves nothing on the server",
    arguments: [UploadPeer.Kind.nginxDAV, .wsgidav, .tus, .resumable, .sftp, .ftp, .ftps])
  func cancelled(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    // wsgidav says that the collection is missing only when it has the whole body.
    if kind == .wsgidav { #expect(mkdir(peer.files, 0o755) == 0) }
    let path = try peer.daemon.source("a", Payload(size: 40 << 20))
    let id = try await peer.upload(path, "--limit-rate", "1M")
    try await peer.daemon.reached("running", by: id)
    // nginx shows no file before the end.
    if kind != .nginxDAV { try await eventually("some of its bytes") { try !peer.names().isEmpty } }
    #expect(try await peer.daemon.ctl("cancel", id).status == 0)
    try await peer.daemon.waitForHistory("deleted the unfinished upload", of: id)
    #expect(try kind == .resumable || peer.names().isEmpty)
  }

  @Test(
    "a paused and resumed upload is complete, and no byte is sent unnecessarily", arguments: UploadPeer.Kind.allCases)
  func paused(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let payload = Payload(size: 40 << 20 + 1, seed: 9)
    let path = try peer.daemon.source("a", payload)
    let id = try await peer.upload(path, "--limit-rate", "512K")
    for _ in 0..<3 {
      try await peer.daemon.reached("running", by: id)
      try await Task.sleep(for: .milliseconds(200))
      #expect(try await peer.daemon.ctl("pause", id).status == 0)
      #expect(try await peer.daemon.job(id).state == "paused")
      #expect(try await peer.daemon.ctl("resume", id).status == 0)
    }
    _ = try await peer.daemon.ctl("set", id, "--limit-rate", "1G")
    let job = try await peer.daemon.finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    #expect(try peer.holds("a", payload))
    #expect(try peer.names().count == 1)
    if kind.resumes, kind != .s3 { #expect(peer.bytesReceived <= payload.size + 4 * Self.buffers) }
  }

  @Test(
    "a file that is replaced during its upload arrives in its new version only",
    arguments: UploadPeer.Kind.allCases)
  func replaced(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let path = try peer.daemon.source("a", Payload(size: 24 << 20, seed: 1))
    let new = Payload(size: 24 << 20, seed: 2)
    try new.write(to: path + ".new")
    // Slow enough that the old version cannot be complete before.
    let id = try await peer.upload(path, "--limit-rate", "1M")
    try await peer.daemon.reached("running", by: id)
    try await Task.sleep(for: .milliseconds(500))
    #expect(rename(path + ".new", path) == 0)
    _ = try await peer.daemon.ctl("set", id, "--limit-rate", "1G")
    let job = try await peer.daemon.finished(id)
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    #expect(try peer.holds("a", new))
    let names = try peer.names()
    #expect(names.count == 1, "\(names)")
  }

  @Test(
    "a sparse file of 256 MiB is uploaded", arguments: [UploadPeer.Kind.nginxDAV, .s3, .sftp])
  func sparse(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let path = try peer.daemon.source("big", Payload(size: 1 << 20))
    #expect(truncate(path, 256 << 20) == 0)
    let job = try await peer.daemon.finished(peer.upload(path), timeout: .seconds(200))
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    try await expectSame(peer.files + "/big", path)
  }
}

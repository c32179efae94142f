import Foundation
import Glibc
import TestSupport
import Testing

/// U1, U2 for each protocol, against servers that somebody else wrote.
@Suite("uploads by each protocol", .timeLimit(.minutes(5))) struct UploadProtocolTests {
  private static let sizes: [Int64] = [
    0, 1, 5 << 20 - 1, 5 << 20, 5 << 20 + 1, 8 << 20 - 1, 8 << 20 + 1, 16 << 20 - 1, 16 << 20, 24 << 20 + 1,
  ]

  @Test("every size arrives byte for byte, and nothing beside it", arguments: UploadPeer.Kind.allCases)
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
      #expect(job.state == "completed" && job.attempt == 1, "\(job.destination) \(job.error?.message ?? "")")
      #expect(job.bytesDone == job.bytesTotal)
    }
  }

  /// What may be lost with a connection: what lies in the sockets' buffers, the proxy's included.
  private static let buffers: Int64 = 6 << 20

  @Test(
    "killed ten times at random, it ends well, and goes on where the server is", arguments: UploadPeer.Kind.allCases)
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
      // Half a file never stands under its name, where the server knows other names.
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
    #expect(names.count == 1, "seed \(seed): \(names)")
    guard kind.resumes else { return }
    // Of S3, parts that were not whole: four at a time. `set` breaks off one attempt more.
    let each = kind == .s3 ? 4 * 8 << 20 : Self.buffers
    #expect(peer.bytesReceived <= payload.size + 11 * each, "seed \(seed)")
  }

  @Test(
    "cancelled, nothing stays there",
    arguments: [UploadPeer.Kind.nginxDAV, .wsgidav, .tus, .resumable, .sftp, .ftp, .ftps])
  func cancelled(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let path = try peer.daemon.source("a", Payload(size: 40 << 20))
    let id = try await peer.upload(path, "--limit-rate", "1M")
    try await peer.daemon.reached("running", by: id)
    // nginx shows nothing before the end.
    if kind != .nginxDAV { try await eventually("some of it") { try !peer.names().isEmpty } }
    #expect(try await peer.daemon.ctl("cancel", id).status == 0)
    try await peer.daemon.told("took back", of: id)
    #expect(try kind == .resumable || peer.names().isEmpty)
  }

  @Test("paused and resumed, it arrives whole, and nothing is sent for nothing", arguments: UploadPeer.Kind.allCases)
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
    "a file that is replaced while it is sent arrives in its new version, and nothing of the old one stays",
    arguments: UploadPeer.Kind.allCases)
  func replaced(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let path = try peer.daemon.source("a", Payload(size: 24 << 20, seed: 1))
    let new = Payload(size: 24 << 20, seed: 2)
    try new.write(to: path + ".new")
    // Slow enough that the old one cannot be over before.
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

  @Test("1 GiB, most of it a hole", .timeLimit(.minutes(10)), arguments: [UploadPeer.Kind.nginxDAV, .s3, .sftp])
  func sparse(_ kind: UploadPeer.Kind) async throws {
    let peer = try await UploadPeer(kind)
    let path = try peer.daemon.source("big", Payload(size: 1 << 20))
    #expect(truncate(path, 1 << 30) == 0)
    let job = try await peer.daemon.finished(peer.upload(path), timeout: .seconds(500))
    #expect(job.state == "completed", "\(job.error?.message ?? "")")
    try await expectSame(peer.files + "/big", path)
  }
}

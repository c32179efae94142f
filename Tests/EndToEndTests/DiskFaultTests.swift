import Foundation
import Glibc
import TestSupport
import Testing

/// The disk fails one step of a download for a while. strace(1) makes the system calls fail.
@Suite("a disk that refuses", .timeLimit(.minutes(5))) struct DiskFaultTests {
  /// The failing step and its error.
  struct Fault: CustomTestStringConvertible, Sendable {
    enum Step: String, CaseIterable { case bytes, record, rename, name }

    let step: Step
    let error: String
    var testDescription: String { "\(step.rawValue): \(error)" }
    /// The error code of the waiting job.
    var code: String {
      switch (step, error) {
      case (_, "ENOSPC"): "disk-full"
      case (.record, _): "internal"
      default: "io"
      }
    }

    static let all: [Fault] =
      [
        ("bytes", ["EIO", "ENOSPC"]), ("record", ["EIO", "ENOSPC"]), ("rename", ["EXDEV", "ENOSPC", "EIO"]),
        ("name", ["EIO", "ENOSPC"]),
      ]
      .flatMap { step, errors in errors.map { Fault(step: Step(rawValue: step)!, error: $0) } }

    func trap(_ daemon: Daemon) async throws -> Interception {
      let sync = "fdatasync,fsync"
      let action = "error=\(error)"
      switch step {
      case .bytes:
        let part = daemon.downloaded(try #require(try daemon.partNames.first))
        return try await Interception(daemon, calls: sync, paths: [part], doing: action)
      case .record:
        return try await Interception(
          daemon, calls: "pwrite64,\(sync)", paths: [daemon.statePath("transferd.db-wal")], doing: action)
      case .rename:
        return try await Interception(
          daemon, calls: "rename,renameat,renameat2", paths: [daemon.downloads], doing: action)
      case .name: return try await Interception(daemon, calls: sync, paths: [daemon.downloads], doing: action)
      }
    }
  }

  @Test(
    "the job waits with the reason, others continue, and it completes when the disk works again", arguments: Fault.all,
    [false, true])
  func fault(_ fault: Fault, isReplacing: Bool) async throws {
    let (payload, small) = (Payload(size: 3 << 20, seed: 3), Payload(size: 50_000, seed: 4))
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(files: [
      "/a": FileBehaviour.file(payload).holding(after: payload.size - 1000, reached: reached, until: proceed),
      "/b": .file(small),
    ])
    let daemon = try await Daemon()
    let old = Payload(size: 5000, seed: 99)
    if isReplacing { try old.write(to: daemon.downloaded("a")) }
    let id = try await daemon.addJob([server.url("/a"), "-o", "a"] + (isReplacing ? ["--replace"] : []))
    try await reached.wait()
    // The bytes are in the file only after the first record is durable.
    try await daemon.waitForParts(holding: payload.size - 1000)
    let trap = try await fault.trap(daemon)
    proceed.open()

    if fault.step == .record {
      // Nothing can be stored, neither the job's own failure.
      try await daemon.process?.waitForErrors("cannot store the ends of attempts")
      let refused = try await daemon.ctl("add", server.url("/b"), "-o", "b")
      #expect(refused.status == 1 && refused.stdout.isEmpty, "\(refused.stderr)")
      if fault.error == "ENOSPC" { #expect(refused.stderr.contains("full"), "\(refused.stderr)") }
    } else {
      try await daemon.failed(with: fault.code, id)
      let elsewhere = try daemon.directory.directory("elsewhere")
      let other = try await daemon.add(server.url("/b"), "-o", "b", "-d", elsewhere)
      #expect(try await daemon.finished(other).state == "completed")
      #expect(try sha256(ofFile: elsewhere + "/b") == small.sha256)
      let waiting = try await daemon.job(id)
      #expect(["retrying", "running"].contains(waiting.state) && waiting.error?.transient == true)
    }
    // The destination is complete, unchanged or missing, and never partial.
    let standing = FileManager.default.fileExists(atPath: daemon.downloaded("a"))
    let expected = fault.step == .name ? payload.sha256 : isReplacing ? old.sha256 : nil
    #expect(standing == (expected != nil))
    if let expected { #expect(try sha256(ofFile: daemon.downloaded("a")) == expected) }
    #expect(try await daemon.curl("/healthz").status == 200)

    try await trap.detach()
    try await daemon.expectCompleted(id, payload, as: "a")
    let asked = server.requests.filter { $0.path == "/a" }
    switch fault.step {
    // After a failed fsync the bytes count as lost: all of them are downloaded again.
    // An earlier checkpoint, if the first bytes took long, keeps its bytes.
    case .bytes: #expect(asked.count > 1 && asked.dropFirst().allSatisfy { $0.start < payload.size - 1000 })
    // Repeating a rename, a link or a commit costs no byte. Only a running checkpoint may have failed before the last
    // bytes arrived.
    case .record, .rename, .name: #expect(asked.dropFirst().allSatisfy { $0.start >= payload.size - 1000 })
    }
    try await daemon.restart()
    #expect(try await daemon.job(id).state == "completed")
  }

  @Test("after a failed fsync a successful one does not make the bytes durable: they are downloaded again")
  func checkpoint() async throws {
    let payload = Payload(size: 8 << 20, seed: 5)
    let (reached, proceed, isWell) = (Gate(), Gate(), Gate())
    // The second response comes when the disk works again.
    let server = try LoopbackServer(
      .file(payload).holding(after: 2 << 20, reached: reached, until: proceed).dripping(
        bytesPerSecond: 4 << 20, after: 2 << 20, on: .first(1)
      ).holding(after: 0, until: isWell, on: .at(1)))
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await reached.wait()
    try await daemon.waitForParts(holding: 2 << 20)
    let part = daemon.downloaded(try #require(try daemon.partNames.first))
    // Each thread fails once and then succeeds: a second call reports success.
    let trap = try await Interception(daemon, calls: "fdatasync,fsync", paths: [part], doing: "error=EIO:when=1")
    // A checkpoint is due 2 s after the last one.
    try await Task.sleep(for: .milliseconds(2100))
    proceed.open()
    try await daemon.failed(with: "io", id)
    try await trap.detach()
    isWell.open()
    try await daemon.expectCompleted(id, payload, as: "a")
    // Regression: it resumed after all written bytes. Only bytes of an earlier checkpoint may be kept.
    let start = try #require(server.requests.last?.start)
    #expect(server.requests.count == 2 && start <= 2 << 20, "from \(start)")
  }

  /// Regression: only verbs on the job whose end was being stored were refused; those on others waited for the disk.
  @Test("a verb on a running job says that its end cannot be stored, also while the end of another job waits before it")
  func verb() async throws {
    let payload = Payload(size: 2 << 20, seed: 6)
    let (first, second, proceed) = (Gate(), Gate(), Gate())
    let file = FileBehaviour.file(payload)
    let server = try LoopbackServer(files: [
      "/a": file.holding(after: payload.size - 1000, reached: first, until: proceed),
      "/b": file.holding(after: payload.size - 1000, reached: second, until: Gate()),
    ])
    let daemon = try await Daemon()
    let ending = try await daemon.add(server.url("/a"), "-o", "a")
    let running = try await daemon.add(server.url("/b"), "-o", "b")
    try await first.wait()
    try await second.wait()
    try await daemon.waitForParts(2, holding: payload.size - 1000)
    let trap = try await Fault(step: .record, error: "EIO").trap(daemon)
    proceed.open()
    try await daemon.process?.waitForErrors("cannot store the ends of attempts")
    let refused = try await daemon.ctl("pause", running, timeout: .seconds(60))
    #expect(refused.status != 0 && !refused.stderr.isEmpty)
    // Regression: these jobs were reported as skipped, because of their state.
    let all = try await daemon.ctl("pause", "--all", timeout: .seconds(60))
    #expect(all.status != 0 && !all.stderr.contains("skipped"), "\(all.stderr)")
    try await trap.detach()
    #expect(try await daemon.finished(ending).state == "completed")
    #expect(try sha256(ofFile: daemon.downloaded("a")) == payload.sha256)
    #expect(try await daemon.ctl("pause", running).status == 0)
    #expect(try await daemon.job(running).state == "paused")
  }

  @Test("a directory that does not respond delays only its own jobs")
  func hanging() async throws {
    let payload = Payload(size: 100_000, seed: 7)
    let server = try LoopbackServer(.file(payload))
    let daemon = try await Daemon()
    let list = (0..<6).map { server.url("/\($0)\n") }.joined()
    #expect(try await daemon.run(["add", "-i", "-", "--paused"], input: Data(list.utf8)).status == 0)
    let trap = try await Interception(
      daemon, calls: "open,openat,stat,newfstatat,statx,access,faccessat2,statfs", paths: [daemon.downloads],
      doing: "delay_enter=600000000")
    #expect(try await daemon.ctl("resume", "--all").status == 0)
    for number in 0..<3 {
      let elsewhere = try daemon.directory.directory("elsewhere\(number)")
      let id = try await daemon.add(server.url("/x"), "-o", "x", "-d", elsewhere)
      #expect(try await daemon.finished(id).state == "completed")
      #expect(try sha256(ofFile: elsewhere + "/x") == payload.sha256)
    }
    #expect(try await daemon.jobs().count { $0.state == "running" } == 6)
    #expect(try daemon.fileNames.isEmpty)
    try await trap.detach()
    #expect(try await daemon.ctl("wait", "--all", timeout: .seconds(60)).status == 0)
    #expect(try daemon.fileNames.count == 6)
  }

  @Test(
    "the daemon starts even if the directory of a finished file refuses, and the job completes later")
  func boot() async throws {
    let payload = Payload(size: 300_000, seed: 6)
    let server = try LoopbackServer(.file(payload))
    let daemon = try await Daemon()
    let trap = try await Interception(daemon, calls: "fdatasync,fsync", paths: [daemon.downloads], doing: "signal=KILL")
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await trap.waitForHit(daemon)
    #expect(try daemon.fileNames == ["a"])
    try daemon.launch(through: [
      try BuiltPrograms.system("strace"), "-D", "-f", "-o", daemon.directory.path("trace"), "-e", "trace=fsync", "-P",
      daemon.downloads, "-e", "inject=fsync:error=EIO",
    ])
    // Regression: the daemon did not start.
    try await daemon.waitUntilReady()
    try await daemon.failed(with: "io", id)
    #expect(try await daemon.job(id).state != "failed")
    try await daemon.restart(by: SIGKILL)
    try await daemon.expectCompleted(id, payload, as: "a")
    #expect(server.requests.count == 1)
  }
}

import Foundation
import Glibc
import TestSupport
import Testing

/// The jobs that were running when the daemon crashed. A library that is loaded before libc makes the daemon crash.
@Suite("crashes of the daemon", .timeLimit(.minutes(5))) struct CrashMarkTests {
  /// Writes to a bad address when bytes of a file with "hostile" in its name are written.
  private static let fault = """
    #define _GNU_SOURCE 1
    #include <stdint.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    static volatile int zero;

    ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
      char link[64], path[4096] = "";
      snprintf(link, sizeof link, "/proc/self/fd/%d", file);
      if (readlink(link, path, sizeof path - 1) > 0 && strstr(path, "hostile")) *(volatile int *)(uintptr_t)zero = 1;
      return syscall(SYS_pwrite64, file, bytes, count, offset);
    }
    ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
      return pwrite64(file, bytes, count, offset);
    }
    """

  /// A daemon that crashes at the first byte of a hostile file and is restarted each time.
  private struct Fragile {
    let daemon: Daemon
    private let library: CompiledC

    init(_ arguments: String...) async throws {
      // Finding the names of the functions takes two seconds for each crash of a debug build; the test does not use them.
      daemon = try await Daemon(environment: ["SWIFT_BACKTRACE": "symbolicate=off"], isStarted: false)
      library = try await CompiledC.preload(CrashMarkTests.fault, in: daemon.directory)
    }

    func start() async throws {
      try daemon.launch(environment: ["LD_PRELOAD": library.path])
      try await daemon.waitUntilReady()
    }

    /// Suspends until the daemon has crashed.
    func expectCrash(_ location: SourceLocation = #_sourceLocation) async throws {
      let ending = try await daemon.process?.waitForEnd()
      #expect(ending == .signal(SIGSEGV), "\(daemon.log)", sourceLocation: location)
      #expect(try daemon.mark.hasSuffix("signal 11"), sourceLocation: location)
    }
  }

  @Test(
    "the job that crashes the daemon is found and fails with the reason; the other jobs complete")
  func culprit() async throws {
    let payload = Payload(size: 200_000, seed: 5)
    // The innocent jobs are in mid-transfer at the first two crashes. Later each gets all its bytes.
    let (gates, proceed) = ((0..<2).map { _ in Gate() }, Gate())
    let halted = { (reached: [Gate]) in
      FileBehaviour.file(payload).holding(after: 1000, reached: reached[0], until: Gate(), on: .at(0))
        .holding(after: 1000, reached: reached[1], until: Gate(), on: .at(1))
    }
    let (first, second) = ((0..<2).map { _ in Gate() }, (0..<2).map { _ in Gate() })
    let server = try LoopbackServer(files: [
      "/a": halted(first).holding(after: 1000, until: proceed, on: .at(2)), "/b": halted(second),
      "/hostile": FileBehaviour.file(payload).holding(after: 0, until: gates[0], on: .at(0))
        .holding(after: 0, until: gates[1], on: .at(1)),
      "/c": .file(payload), "/d": .file(payload),
    ])
    let fragile = try await Fragile()
    let daemon = fragile.daemon
    try await fragile.start()
    var ids: [String: String] = [:]
    for name in ["a", "hostile", "b"] { ids[name] = try await daemon.add(server.url("/" + name), "-o", name) }
    for crash in 0..<2 {
      if crash > 0 { try await fragile.start() }
      try await first[crash].wait()
      try await second[crash].wait()
      gates[crash].open()
      try await fragile.expectCrash()
    }
    // The second mark is counted at the next start.
    #expect(try await daemon.column("crash_marks") == [1, 1, 1])
    let before = server.requests.count
    try await fragile.start()
    #expect(try await daemon.column("crash_marks") == [2, 2, 2])
    #expect(try daemon.mark == "")
    try await server.waitForRequests(3) { $0.path == "/a" }
    // None of these starts while a job runs alone, and both start before the next job that does.
    for name in ["c", "d"] { ids[name] = try await daemon.add(server.url("/" + name), "-o", name) }
    #expect(try await daemon.jobs().filter { $0.state == "running" }.map(\.id) == [1])
    proceed.open()
    try await fragile.expectCrash()
    let asked = server.requests.dropFirst(before).map(\.path)
    #expect(asked.first == "/a" && asked.dropFirst().dropLast().sorted() == ["/c", "/d"] && asked.last == "/hostile")
    #expect(try await daemon.column("crash_marks") == [0, 2, 2, 0, 0])

    try await fragile.start()
    let culprit = try await daemon.finished(ids["hostile"] ?? "")
    #expect(culprit.state == "failed" && culprit.error?.code == "internal" && culprit.error?.transient == false)
    #expect(culprit.error?.message.contains("it crashes the daemon") == true, "\(culprit)")
    for name in ["a", "b", "c", "d"] {
      #expect(try await daemon.finished(ids[name] ?? "").state == "completed")
      #expect(try sha256(ofFile: daemon.downloaded(name)) == payload.sha256)
    }
    #expect(try await daemon.column("crash_marks") == [0, 3, 0, 0, 0])
    #expect(try await daemon.column("crashes") == [0, 0, 0, 0, 0])

    // A retry with a daemon that does not crash downloads the file.
    // It may crash before it responds.
    _ = try await daemon.ctl("retry", ids["hostile"] ?? "")
    try await fragile.expectCrash()
    try await daemon.start()
    #expect(try await daemon.finished(ids["hostile"] ?? "").state == "completed")
    #expect(try sha256(ofFile: daemon.downloaded("hostile")) == payload.sha256)
    #expect(try await daemon.column("crash_marks") == [0, 0, 0, 0, 0])
  }

  @Test("a crash is counted once, even if the daemon is killed before it has cleared the mark")
  func killedBetween() async throws {
    let isAdded = Gate()
    let server = try LoopbackServer(.file(Payload(size: 1000, seed: 1)).holding(after: 0, until: isAdded))
    let fragile = try await Fragile()
    let daemon = fragile.daemon
    try await fragile.start()
    let id = try await daemon.add(server.url("/hostile"), "-o", "hostile")
    isAdded.open()
    try await fragile.expectCrash()
    let left = try daemon.mark
    let killed = try daemon.launch(through: [
      try BuiltPrograms.system("strace"), "-D", "-f", "-o", daemon.directory.path("trace"), "-e", "trace=pwrite64",
      "-P",
      daemon.statePath("transferd.crash"), "-e", "inject=pwrite64:signal=KILL",
    ])
    #expect(try await killed.waitForEnd() == .signal(SIGKILL))
    #expect(try daemon.mark == left)
    #expect(try await daemon.column("crash_marks") == [1])
    #expect(try await daemon.column("state") == ["queued"])
    // No job is running, so none could be counted; a job that started would show a second count.
    try daemon.launch(through: [
      try BuiltPrograms.system("strace"), "-D", "-f", "-o", daemon.directory.path("trace"), "-e", "trace=pwrite64",
      "-P",
      daemon.statePath("transferd.crash"), "-e", "inject=pwrite64:error=EIO",
    ])
    try await daemon.waitUntilReady()
    #expect(daemon.log.contains("cannot clear a crash mark"))
    #expect(try daemon.mark == left)
    #expect(try await daemon.finished(id).state == "completed")
    let held = try LoopbackServer(
      .file(Payload(size: 100_000, seed: 2)).holding(after: 1000, until: Gate(), on: .always))
    _ = try await daemon.add(held.url("/b"), "-o", "b")
    try await held.waitForRequests(1)
    try await daemon.restart(by: SIGKILL)
    #expect(try await daemon.column("crash_marks") == [0, 0])
    #expect(try await daemon.column("crashes") == [0, 1])
    #expect(try daemon.mark == "")
  }

  @Test("kills and signals from other processes leave no mark", arguments: [SIGKILL, SIGSEGV, SIGABRT])
  func outside(_ signal: Int32) async throws {
    let payload = Payload(size: 100_000, seed: 3)
    let gates = (0..<4).map { _ in Gate() }
    var file = FileBehaviour.file(payload)
    for (number, gate) in gates.enumerated() {
      file = file.holding(after: 1000, reached: gate, until: Gate(), on: .at(number))
    }
    let server = try LoopbackServer(file)
    let daemon = try await Daemon()
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    for gate in gates {
      try await gate.wait()
      daemon.signal(signal)
      #expect(try await daemon.process?.waitForEnd() == .signal(signal))
      #expect(try daemon.mark == "")
      try await daemon.start()
    }
    #expect(try await daemon.finished(id).state == "completed")
    #expect(try await daemon.column("crash_marks") == [0])
  }

  @Test("a job that runs alone starts while others wait for their time or their server")
  func waitingOthers() async throws {
    let payload = Payload(size: 1000, seed: 4)
    let isAdded = Gate()
    let server = try LoopbackServer(.file(payload).holding(after: 0, until: isAdded))
    let closed = try LoopbackServer(.file(payload).failing(503, retryAfter: .seconds(3600)))
    let fragile = try await Fragile()
    let daemon = fragile.daemon
    try await fragile.start()
    let waiting = try await daemon.add(closed.url("/waiting"), "-o", "waiting")
    try await daemon.failed(with: "http-503", waiting)
    _ = try await daemon.add(closed.url("/behind"), "-o", "behind")
    let id = try await daemon.add(server.url("/hostile"), "-o", "hostile")
    isAdded.open()
    try await fragile.expectCrash()
    // A client that waits until the daemon is ready may find that it has crashed again.
    try? await fragile.start()
    try await fragile.expectCrash()
    #expect(try await daemon.column("crash_marks") == [0, 0, 1])
    try await daemon.start()
    #expect(try await daemon.finished(id).state == "completed")
    #expect(try await daemon.column("state") == ["retrying", "queued", "completed"])
  }
}

extension Daemon {
  /// The mark of the last crash; empty if there is none.
  fileprivate var mark: String {
    get throws {
      try String(contentsOfFile: statePath("transferd.crash"), encoding: .utf8).trimmingCharacters(
        in: .whitespacesAndNewlines)
    }
  }

  /// The stored values of a column for all jobs, by their ids.
  fileprivate func column(_ name: String) async throws -> [String] {
    let look = """
      import sqlite3, sys
      db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
      for row in db.execute("SELECT " + sys.argv[2] + " FROM job ORDER BY id"): print(row[0])
      """
    return try await Launch(
      BuiltPrograms.system("python3"), ["-c", look, statePath("transferd.db"), name]
    ).runSuccessfully().lines
  }

  fileprivate func column(_ name: String) async throws -> [Int] {
    try await (column(name) as [String]).compactMap { Int($0) }
  }
}

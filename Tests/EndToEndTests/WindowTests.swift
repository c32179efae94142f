import Foundation
import Glibc
import TestSupport
import Testing

/// Windows. Another time zone shows the daemon another time of day, so no test waits for an hour.
@Suite("windows", .timeLimit(.minutes(5))) struct WindowTests {
  /// A time of day in UTC as a clock shows it, some minutes from now.
  private static func clock(_ minutes: Int, from now: Date = Date()) -> String {
    let minute = (Int(now.timeIntervalSince1970) / 60 + minutes) % 1440
    return String(format: "%02d:%02d", minute / 60, minute % 60)
  }

  private static func waiting(_ daemon: Daemon, _ id: String) async throws -> [String: Any]? {
    try await daemon.curl("/v1/jobs/\(id)").json["waiting"] as? [String: Any]
  }

  /// Restarts the daemon with a clock that shows so many hours more than UTC.
  private static func restart(_ daemon: Daemon, hours: Int) async throws {
    try await daemon.kill9()
    // POSIX counts hours west of Greenwich.
    try daemon.launch(environment: ["TZ": "TEST\(-hours)"])
    try await daemon.waitUntilReady()
  }

  @Test("a job waits for its window by the daemon's clock, also after a kill, and why says until when")
  func closed() async throws {
    let server = try LoopbackServer(.file(size: 1000))
    let daemon = try await Daemon()
    try await Self.restart(daemon, hours: 0)
    // From three hours on, for six hours.
    let window = "\(Self.clock(180))-\(Self.clock(540))"
    let id = try await daemon.add(server.url("/a"), "-d", daemon.downloads, "--window", window)
    let other = try await daemon.add(server.url("/b"), "-d", daemon.downloads, "--window", "00:00-24:00")
    #expect(try await daemon.ctl("wait", other).status == 0)
    try await Self.restart(daemon, hours: 0)
    let waiting = try await Self.waiting(daemon, id)
    #expect(waiting?["reason"] as? String == "window", "\(waiting as Any)")
    let until = try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(
      try #require(waiting?["until"] as? String))
    #expect(abs(until.timeIntervalSinceNow - 3 * 3600) < 120)
    let why = try await daemon.ctl("why", id)
    #expect(why.stdout.contains("its window \(window) is closed") && why.status == 0, "\(why.stdout)")
    let options = try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any]
    #expect(options?["window"] as? String == window)
    let exported = try await daemon.ctl("export", id)
    #expect(exported.stdout.contains(#""window":"\#(window)""#))
    #expect(server.requests.map(\.path) == ["/b"])
    // The daemon's clock shows four hours more: the window is open.
    try await Self.restart(daemon, hours: 4)
    #expect(try await daemon.ctl("wait", id).status == 0)
  }

  @Test(
    "when the window closes, a transfer stops at a checkpoint and later continues; one without ranges is let finish")
  func closes() async throws {
    let (reached, proceed) = (Gate(), Gate())
    let payload = Payload(size: 3_000_000)
    let server = try LoopbackServer(files: [
      "/ranges": FileBehaviour.file(payload).holding(after: 2_000_000, reached: reached, until: proceed),
      "/none": FileBehaviour.file(payload).serving { file, _ in file.honoursRange = false }.holding(
        after: 2_000_000, reached: reached, until: proceed),
    ])
    let daemon = try await Daemon()
    try await Self.restart(daemon, hours: 0)
    // The window closes with the minute, or the next one if that is near.
    let now = Date()
    let minutes = Int(now.timeIntervalSince1970) % 60 > 40 ? 2 : 1
    let window = "\(Self.clock(-60, from: now))-\(Self.clock(minutes, from: now))"
    let resumable = try await daemon.add(
      server.url("/ranges"), "-d", daemon.downloads, "--window", window, "--segments", "1")
    let other = try await daemon.add(server.url("/none"), "-d", daemon.downloads, "--window", window, "--segments", "1")
    try await server.waitForRequests(2)
    let events = try daemon.ctlStarted("events", resumable, "--follow")
    try await events.waitForOutput("its window \(window) has closed")
    events.signalGroup(SIGKILL)
    let waiting = try await Self.waiting(daemon, resumable)
    #expect(waiting?["reason"] as? String == "window", "\(waiting as Any)")
    let job = try await daemon.curl("/v1/jobs/\(resumable)").json
    #expect((job["bytesDone"] as? Int ?? 0) > 1_000_000 && job["attempt"] as? Int == 0, "\(job)")
    #expect(try await daemon.job(other).state == "running")
    let why = try await daemon.ctl("why", other)
    #expect(why.stdout.contains("its window \(window) is closed, but its transfer cannot be resumed"), "\(why.stdout)")
    let options = try await daemon.curl("/v1/jobs/\(other)").json["options"] as? [String: Any]
    #expect(options?["isOutsideWindow"] as? Bool == true)
    proceed.open()
    #expect(try await daemon.ctl("wait", other).status == 0)
    try await Self.restart(daemon, hours: -1)
    #expect(try await daemon.ctl("wait", resumable).status == 0)
    #expect(try Data(contentsOf: URL(filePath: daemon.downloads + "/ranges")) == payload.data)
    let last = try #require(server.requests.last)
    #expect(last.path == "/ranges" && last.headers["range"] != nil, "\(last)")
  }

  @Test(
    "a wrong window is named before a job exists",
    arguments: ["22:00", "22:00-", "25:00-06:00", "22:00-22:00", "22-06", "10pm-6am", "none", ""])
  func mistakes(_ window: String) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads, "--window", window])
    #expect(result.status == 64 && result.stderr.contains("window"), "\(result.status) \(result.stderr)")
    let body = #"{"source":"http://127.0.0.1:9/a","directory":"/tmp","window":"\#(window)"}"#
    #expect(try await daemon.curl("/v1/jobs", "-d", body).status == 400)
    #expect(try await daemon.jobs().isEmpty)
  }
}

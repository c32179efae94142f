import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// The meaning of responses to uploads, protocol by protocol, as far as only the daemon shows it.
@Suite("responses to uploads", .timeLimit(.minutes(5))) struct UploadResponseTests {
  enum UploadProtocol: String, CaseIterable, Sendable {
    case plain, form, tus, resumable, s3, webdav

    var options: [String] { ["--protocol", rawValue] }
  }

  /// A server that refuses the first relevant requests and then accepts everything.
  private struct Refusing {
    let url: String
    let options: [String]
    let main: @Sendable () -> Int
    private let server: any Sendable

    init(_ uploadProtocol: UploadProtocol, _ status: Int, times: Int) throws {
      let refusal = Script.response(status)
      let left = Watched(times)
      let refuses: @Sendable (ServedRequest) -> Bool = { request in
        guard ["PUT", "POST"].contains(request.method) else { return false }
        return left.mutate { left in
          left -= 1
          return left >= 0
        }
      }
      options = uploadProtocol.options
      main = { times - left.value }
      switch uploadProtocol {
      case .plain, .form, .webdav:
        let server = try LoopbackServer { request in
          if refuses(request) { return refusal }
          return .response(request.method == "MKCOL" ? 405 : request.method == "OPTIONS" ? 404 : 201)
        }
        url = server.url("/in/a")
        self.server = server
      case .tus:
        let tus = try ScriptedTus { request, _ in refuses(request) ? .instead(refusal) : nil }
        url = tus.url
        self.server = tus
      case .resumable:
        let resumable = try ScriptedResumable { request, _ in
          refuses(request) ? .instead(Script([.readBody()]) + refusal) : nil
        }
        url = resumable.url
        self.server = resumable
      case .s3:
        let s3 = try ScriptedS3 { _, request, _ in refuses(request) ? refusal : nil }
        url = s3.server.url("/bucket/a")
        self.server = s3
      }
    }
  }

  private static func daemon() async throws -> Daemon {
    try await Daemon(environment: ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"])
  }

  @Test(
    "a new collection or URL gets the upload; the unfinished upload at the old one is deleted",
    arguments: ["tus", "auto"], ["", "a.bin"])
  func otherURL(_ name: String, _ ending: String) async throws {
    let (old, new) = (
      try ScriptedTus { request, _ in request.method == "PATCH" ? .take(1 << 16, then: [.stall]) : nil },
      try ScriptedTus()
    )
    let daemon = try await Self.daemon()
    let payload = Payload(size: 1 << 20, seed: 3)
    let path = try daemon.source("a.bin", payload)
    let id = try await daemon.upload(
      path, "--to", old.url + "?token=s3cret", "--protocol", name, "--on-success", "delete")
    try await old.server.waitForRequests(1) { $0.method == "PATCH" }
    for command in [["show", id, "--format", "json"], ["export", id], ["status", id, "--format", "json"]] {
      #expect(try await !daemon.run(command).stdout.contains("s3cret"), "\(command)")
    }
    let other = (new.url + ending + "?token=other").replacing("http://", with: "http://user:secret@")
    #expect(try await daemon.ctl("set", id, "--url", other).status == 0)
    #expect(try await daemon.job(id).destination == new.url + "a.bin?token=***")
    #expect(try await daemon.finished(id).state == "completed")
    #expect(new.uploads.map { new.bytes(of: $0) } == [payload.data])
    #expect(new.requests("POST").allSatisfy { $0.target == "/files/?token=other" })
    let credentials = "Basic " + Data("user:secret".utf8).base64EncodedString()
    #expect(new.requests("POST").allSatisfy { $0.headers["Authorization"] == credentials })
    try await eventually("the file to be deleted") { !FileManager.default.fileExists(atPath: path) }
    try await eventually("the upload at the old URL to be deleted") { old.uploads.isEmpty }
  }

  @Test("a permanent error fails the job with its reason, by every protocol", arguments: UploadProtocol.allCases)
  func permanent(_ uploadProtocol: UploadProtocol) async throws {
    let daemon = try await Self.daemon()
    let path = try daemon.source("a", Payload(size: 1000))
    for status in [401, 403, 404, 413] {
      let server = try Refusing(uploadProtocol, status, times: .max)
      let result = try await daemon.run(["upload", path, "--to", server.url, "--wait"] + server.options)
      #expect(result.status == 1, "\(status)")
      // WebDAV checks whether the collection is missing, and repeats the request once.
      #expect(server.main() == (uploadProtocol == .webdav && status == 404 ? 2 : 1), "\(status)")
      let job = try #require(try await daemon.jobs("--state", "failed").first { $0.error?.httpStatus == status })
      #expect(job.error?.code == "http-\(status)" && job.attempt == 1 && job.error?.transient == false)
      #expect(job.error?.message.contains("\(status)") == true)
    }
  }

  @Test("a transient error is retried, by every protocol", arguments: UploadProtocol.allCases)
  func transient(_ uploadProtocol: UploadProtocol) async throws {
    let daemon = try await Self.daemon()
    let path = try daemon.source("a", Payload(size: 1000))
    // All at once: each waits for its retry.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for status in [408, 423, 425, 429, 500, 502, 503, 504] {
        let server = try Refusing(uploadProtocol, status, times: 1)
        group.addTask {
          let result = try await daemon.run(["upload", path, "--to", server.url, "--wait"] + server.options)
          #expect(result.status == 0, "\(status): \(result.stderr)")
        }
      }
      try await group.waitForAll()
    }
    #expect(try await daemon.jobs().allSatisfy { $0.state == "completed" && $0.attempt <= 2 })
  }

  @Test(
    "a refusal before or during the body ends the upload's attempt at once", arguments: [0, 1 << 16] as [Int64])
  func early(_ bytes: Int64) async throws {
    let server = try LoopbackServer(bodies: .byScript) { _ in
      Script((bytes > 0 ? [.readBody(upTo: bytes)] : []) + [.status(413, headers: ["Content-Length": "0"]), .close])
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 64 << 20))
    // The stall timeout is ten minutes.
    #expect(try await daemon.ctl("upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait").status == 1)
    let job = try await daemon.job("1")
    #expect(job.error?.code == "http-413" && job.attempt == 1)
    #expect(server.requests.count == 1 && server.requests[0].bodyLength <= bytes)
  }

  @Test("a PUT whose response was lost is repeated from its first byte, and never with Content-Range")
  func lost() async throws {
    let count = Atomic(0)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      count.add(1, ordering: .relaxed).newValue == 1
        ? [.readBody(), .close] : [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let daemon = try await Daemon()
    let payload = Payload(size: 3 << 20)
    let path = try daemon.source("a", payload)
    #expect(try await daemon.ctl("upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait").status == 0)
    #expect(server.requests.map(\.bodySHA256) == [payload.sha256, payload.sha256])
    #expect(server.requests.allSatisfy { $0.headers["Content-Range"] == nil && $0.method == "PUT" })
  }

  @Test("a success status before the end of the body does not count")
  func tooEarly() async throws {
    let count = Atomic(0)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      count.add(1, ordering: .relaxed).newValue == 1
        ? [.readBody(upTo: 1 << 16), .status(201, headers: ["Content-Length": "0"]), .close]
        : [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive]
    }
    let daemon = try await Daemon()
    // More than the buffers of both sockets: buffered bytes count as sent, and the difference would be invisible.
    let payload = Payload(size: 48 << 20)
    let path = try daemon.source("a", payload)
    #expect(try await daemon.ctl("upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait").status == 0)
    #expect(server.requests.last?.bodySHA256 == payload.sha256)
    #expect(try await daemon.job("1").attempt == 2)
  }

  @Test("307 and 308 redirect the upload; 301, 302 and 303 fail the job", arguments: [301, 302, 303, 307, 308])
  func redirected(_ status: Int) async throws {
    let server = try LoopbackServer { request in
      request.path == "/a" ? .redirect(to: "/b", status: status) : .response(201)
    }
    let daemon = try await Daemon()
    let payload = Payload(size: 70_000)
    let path = try daemon.source("a", payload)
    let result = try await daemon.ctl("upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait")
    #expect(result.status == (status < 307 ? 1 : 0))
    let arrived = server.requests.filter { $0.path == "/b" }
    #expect(arrived.map(\.method) == (status < 307 ? [] : ["PUT"]))
    #expect(arrived.allSatisfy { $0.bodySHA256 == payload.sha256 })
    if status < 307 { #expect(try await daemon.job("1").error?.code == "redirect-refused") }
  }

  @Test("--verify detects a server that stored another length", arguments: ["plain", "webdav"])
  func shortened(_ uploadProtocol: String) async throws {
    let server = try LoopbackServer { request in
      request.method == "HEAD" ? [.status(200, headers: ["Content-Length": "999"]), .keepAlive] : .response(201)
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 1000))
    let arguments = ["upload", path, "--to", server.url("/a"), "--protocol", uploadProtocol, "--verify", "--wait"]
    #expect(try await daemon.run(arguments).status == 1)
    let job = try await daemon.job("1")
    #expect(job.error?.code == "truncated" && job.error?.message.contains("999") == true)
    #expect(!server.requests.contains { $0.method == "MOVE" })
    let refused = try await daemon.run(["upload", path, "--to", "s3://b/k", "--verify"])
    #expect(refused.status == 64 && refused.stderr.contains("verify"))
  }

  @Test(
    "a POST or form with an unknown outcome is sent again only by an explicit retry, with a notice",
    arguments: ["plain", "form"])
  func unknown(_ uploadProtocol: String) async throws {
    let isBack = Watched(false)
    let server = try LoopbackServer(bodies: .byScript) { _ in
      isBack.value ? [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive] : [.readBody(), .close]
    }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 5000))
    let id = try await daemon.upload(path, "--to", server.url("/a"), "--method", "POST", "--protocol", uploadProtocol)
    var job = try await daemon.finished(id)
    #expect(job.error?.code == "outcome-unknown" && job.error?.message.contains("retry") == true)
    isBack.mutate { $0 = true }
    let retry = try await daemon.ctl("retry", id)
    #expect(retry.status == 0 && retry.stderr.contains("may have the file"), "\(retry.stderr)")
    job = try await daemon.finished(id)
    #expect(job.state == "completed", "\(String(describing: job.error))")
    #expect(server.requests.count == 2)
    let history = try await daemon.ctl("events", id, "--format", "json").stdout
    #expect(history.contains("the server may have it already"))
  }

  @Test("a POST that was interrupted by a kill is not repeated automatically")
  func killedWhilePosting() async throws {
    let reached = Gate()
    let server = try LoopbackServer(bodies: .byScript) { _ in [.readBody(), .signal(reached), .stall] }
    let daemon = try await Daemon()
    let path = try daemon.source("a", Payload(size: 5000))
    let id = try await daemon.upload(path, "--to", server.url("/a"), "--form", "file=@")
    try await reached.wait()
    try await daemon.restart(by: SIGKILL)
    #expect(try await daemon.finished(id).error?.code == "outcome-unknown")
    #expect(server.requests.count == 1)
  }
}

import Foundation
import TestSupport
import Testing

/// A server that keeps what is sent with PUT, and answers when a test says so.
final class PutServer: Sendable {
  let server: LoopbackServer
  private let files = Watched<[String: Data]>([:])

  /// - Parameter held: the responses wait for this gate; `reached` opens when a file has arrived.
  init(reached: Gate = Gate(), until held: Gate? = nil) throws {
    let files = files
    server = try LoopbackServer { request in
      guard request.method == "PUT" else { return .response(405) }
      files.mutate { $0[request.path] = request.body }
      guard let held else { return .response(201) }
      return [.signal(reached), .waitFor(held)] + .response(201)
    }
  }

  func url(_ path: String) -> String { server.url(path) }
  func holds(_ path: String, _ payload: Payload) -> Bool {
    files.value[path].map { sha256(of: $0) == payload.sha256 } ?? false
  }
  var puts: [ServedRequest] { server.requests.filter { $0.method == "PUT" } }
}

extension Daemon {
  /// The directories of relays' copies.
  var copies: [String] { (try? directory.names(in: "state/relay")) ?? [] }

  /// Suspends until no relay has a copy: they are deleted after the row is stored.
  func waitForNoCopies() async throws {
    try await eventually("the copies to be deleted") { self.copies.isEmpty }
  }

  /// Adds a relay and returns its id.
  func relay(_ url: String, to target: String, _ more: String...) async throws -> String {
    try await addJob([url, "--then-upload", target] + more)
  }

  /// Suspends until a relay is in a phase.
  func waitForPhase(_ phase: String, of id: String) async throws {
    try await eventually("the phase \(phase)") { try await self.job(id).phase == phase }
  }

  /// Why the job waits.
  func waitingReason(_ id: String) async throws -> String? {
    (try await curl("/v1/jobs/\(id)").json["waiting"] as? [String: Any])?["reason"] as? String
  }

  /// Replaces the configuration, for a daemon that has one.
  func reconfigure(_ lines: String) async throws {
    try ("transferd:\n" + lines).write(toFile: directory.path("config.yaml"), atomically: true, encoding: .utf8)
    #expect(try await ctl("daemon", "reload").status == 0)
  }
}

extension UploadPeer {
  /// Adds a relay to the peer, and returns its id.
  func relay(_ url: String, _ more: String...) async throws -> String {
    try await daemon.addJob([url, "--then-upload", collection] + options + more)
  }
}

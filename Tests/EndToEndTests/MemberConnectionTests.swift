import Foundation
import TestSupport
import Testing

/// The control socket's limits for each user.
@Suite("connections of members", .serialized, .timeLimit(.minutes(5))) struct MemberConnectionTests {
  @Test(
    "a member has 64 connections, and cannot keep other users out",
    .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
  func perUser() async throws {
    let shared = try await SharedDaemon()
    let more = (1..<64).flatMap { _ in ["http://transferd/v1/events"] }
    let watchers = try ChildProcess(
      shared.curlLaunch(
        "/v1/events", ["--parallel", "--parallel-immediate", "--parallel-max", "64"] + more, as: .alice))
    try await eventually("64 event streams") {
      watchers.outputSoFar.components(separatedBy: ": transferd\n").count == 65
    }
    let refused = try await shared.curl("/healthz", as: .alice)
    #expect(refused.status == 503 && refused.code == "unavailable" && refused.body.contains("64 connections"))
    for person in [SharedDaemon.Person.bob, .service, .root] {
      #expect(try await shared.curl("/healthz", as: person) == .init(status: 200, body: "ok\n"), "\(person)")
    }
    watchers.kill(SIGTERM)
    _ = try await watchers.result()
    try await eventually("room for a connection") { try await shared.curl("/healthz", as: .alice).status == 200 }
  }
}

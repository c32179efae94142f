import Foundation
import TestSupport
import Testing

@Suite(
  "members of the socket's group", .timeLimit(.minutes(5)),
  .enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
struct MemberTests {
  @Test("members, the daemon's user and root are served; everybody else is not")
  func served() async throws {
    let shared = try await SharedDaemon()
    for person in [SharedDaemon.Person.alice, .bob, .service, .root] {
      #expect(try await shared.curl("/healthz", as: person) == .init(status: 200, body: "ok\n"), "\(person)")
      #expect(try await shared.ctl("status", "--format", "name", as: person).status == 0, "\(person)")
    }
    #expect(try await shared.curl("/healthz", as: .stranger).status == 0)
    #expect(try await shared.ctl("status", as: .stranger).status == 5)
  }
}

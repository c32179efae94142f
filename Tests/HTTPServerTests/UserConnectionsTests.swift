import Testing

@testable import HTTPServer

@Suite struct UserConnectionsTests {
  private func users(connections: Int = 100, perUser: Int = 3) -> UserConnections {
    var limits = ServerLimits(connections: connections)
    limits.connectionsPerUser = perUser
    limits.privilegedUsers = [0]
    return UserConnections(limits)
  }

  @Test("a user has at most so many connections, and gets another one when one ends")
  func perUser() {
    let users = users()
    for _ in 0..<3 { #expect(users.enter(1000) == .admitted) }
    let refused = users.enter(1000)
    #expect(refused == .refused(.tooManyConnections(limit: 3), lingers: true))
    #expect(users.enter(1001) == .admitted)
    users.leave(1000, refused)
    #expect(users.enter(1000) != .admitted)
    users.leave(1000, .admitted)
    #expect(users.enter(1000) == .admitted)
  }

  @Test("users who are not privileged get half of all connections together; the others have no limit here")
  func others() {
    let users = users(connections: 10)
    let admitted = (1000..<1010).filter { users.enter($0) == .admitted }
    #expect(admitted.count == 5)
    for _ in 0..<20 { #expect(users.enter(0) == .admitted) }
  }

  @Test("only some refused connections may wait for their client")
  func lingering() {
    let users = users(perUser: 1)
    #expect(users.enter(1000) == .admitted)
    let refused = (0..<40).map { _ in users.enter(1000) }
    let error = RequestError.tooManyConnections(limit: 1)
    #expect(refused.count { $0 == .refused(error, lingers: true) } == UserConnections.maximumLingering)
    for admission in refused { users.leave(1000, admission) }
    #expect(users.enter(1000) == .refused(error, lingers: true))
  }
}

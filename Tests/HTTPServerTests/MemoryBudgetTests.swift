import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(5))) struct MemoryBudgetTests {
  private static let loop = MultiThreadedEventLoopGroup.singleton.any()
  private let member: UInt32 = 1000

  private func budget(_ change: (inout ServerLimits) -> Void = { _ in }) -> MemoryBudget {
    var limits = ServerLimits(connections: 100)
    limits.privilegedUsers = [0]
    limits.bodyMemory = 16
    limits.bodyMemoryPerUser = 8
    change(&limits)
    return MemoryBudget(limits)
  }

  private func reserve(_ budget: MemoryBudget, _ bytes: Int, _ uid: UInt32) async throws -> MemoryBudget.Reservation {
    try await budget.reserve(bytes, for: uid, on: Self.loop)
  }

  @Test("a reservation is given back when it goes")
  func giveBack() async throws {
    let budget = budget()
    var reservation: MemoryBudget.Reservation? = try await reserve(budget, 5, member)
    #expect(budget.used == 5)
    _ = reservation
    reservation = nil
    #expect(budget.used == 0)
  }

  @Test("one user, and all users who are not privileged, leave room for the others")
  func shares() async throws {
    let budget = budget { $0.memoryTimeout = .milliseconds(50) }
    let first = try await reserve(budget, 8, member)
    await #expect(throws: RequestError.outOfMemory) { try await reserve(budget, 1, member) }
    let second = try await reserve(budget, 4, 1001)
    // 12 of 16 are the most for users who are not privileged.
    await #expect(throws: RequestError.outOfMemory) { try await reserve(budget, 1, 1002) }
    let third = try await reserve(budget, 4, 0)
    await #expect(throws: RequestError.outOfMemory) { try await reserve(budget, 1, 0) }
    withExtendedLifetime((first, second, third)) { #expect(budget.used == 16) }
  }

  @Test("requests that wait are served when memory is given back, and none waits behind a user who has reached a limit")
  func waiting() async throws {
    let budget = budget()
    var held: MemoryBudget.Reservation? = try await reserve(budget, 8, member)
    let order = Watched<[UInt32]>([])
    let waiting = Task {
      let reservation = try await reserve(budget, 8, member)
      order.mutate { $0.append(member) }
      withExtendedLifetime(reservation) {}
    }
    while budget.waitingCount == 0 { await Task.yield() }
    let other = try await reserve(budget, 4, 1001)
    #expect(order.value.isEmpty)
    withExtendedLifetime(held) {}
    held = nil
    try await waiting.value
    #expect(order.value == [member] && budget.waitingCount == 0)
    withExtendedLifetime(other) {}
  }

  @Test("a request that is cancelled while it waits leaves nothing behind")
  func cancelled() async throws {
    let budget = budget()
    let held = try await reserve(budget, 8, member)
    let waiting = Task { try await reserve(budget, 8, member) }
    while budget.waitingCount == 0 { await Task.yield() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { _ = try await waiting.value }
    #expect(budget.waitingCount == 0)
    withExtendedLifetime(held) { #expect(budget.used == 8) }
  }

  @Test("unfinished bodies of many clients hold no more than the budget; small bodies are answered all the same")
  func unfinishedBodies() async throws {
    let server = try await Server(limits: .changed { $0.bodyMemory = 2 << 20 })
    let clients = try (0..<20).map { _ in try server.client() }
    for client in clients {
      client.send(.head("POST /echo", "Content-Length: 1000000"))
      client.send(Data(count: 999_999))
    }
    try await clients[0].sent.wait(for: "the first bytes") { $0 > 1000 ? () : nil }
    let small = try await server.answer(to: .head("POST /echo", "Content-Length: 3", "Connection: close") + "abc")
    #expect(small.statuses == [200])
    #expect(server.listener.budget.used <= 2 << 20)
    // Those who wait for memory are refused in the end, or served when there is some.
    for client in clients { client.send("x") }
    for client in clients { _ = try await client.receive(through: "\r\n\r\n") }
    #expect(clients.contains { $0.heard.value.text.hasPrefix("HTTP/1.1 200 ") })
  }
}

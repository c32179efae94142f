import Foundation
import Testing
import TransferAPI

@testable import transferctl

@Suite struct StartStatusTests {
  private func directory(_ text: String?) throws -> String {
    let path = NSTemporaryDirectory() + "start-status-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/transferd.lock")) }
    return path
  }

  @Test("a migration is announced once, as long as its daemon lives")
  func busy() throws {
    let path = try directory(LockFileText(processID: getpid(), status: "bringing its database up to date").description)
    defer { try? FileManager.default.removeItem(atPath: path) }
    nonisolated(unsafe) var said: [String] = []
    var status = StartStatus(stateDirectory: path) { said.append($0) }
    let answers = [status.isBusy(), status.isBusy()]
    #expect(answers == [true, true])
    #expect(said == ["waiting for transferd: it is bringing its database up to date"])
  }

  @Test(
    "nothing is waited for without a status, a file or a living daemon",
    arguments: [nil, "", "1", "\(getpid())\n", "2147483646\nmigrating\n", "x\nmigrating\n"])
  func idle(_ text: String?) throws {
    let path = try directory(text)
    defer { try? FileManager.default.removeItem(atPath: path) }
    var status = StartStatus(stateDirectory: path) { _ in Issue.record("said something") }
    let isBusy = status.isBusy()
    #expect(!isBusy)
  }

  @Test("the lock file's text comes back", arguments: [nil, "migrating"])
  func roundTrip(_ status: String?) {
    let text = LockFileText(processID: 7, status: status)
    #expect(LockFileText(text.description) == text)
  }
}

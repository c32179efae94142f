import Foundation
import TestSupport
import Testing

/// The daemon stays within the limits of its units; otherwise its clients could get it killed.
@Suite("the limits that the units set", .timeLimit(.minutes(5))) struct UnitLimitTests {
  private struct NoLimit: Error {}

  /// `MemoryMax=` of a unit, in bytes.
  private func memoryMax(_ manager: String) throws -> Int {
    let text = try String(contentsOfFile: "\(UnitFileTests.packaging)/\(manager)/transferd.service", encoding: .utf8)
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemoryMax=") }),
      line.hasSuffix("G"), let gibibytes = Int(line.dropFirst("MemoryMax=".count).dropLast())
    else { throw NoLimit() }
    return gibibytes << 30
  }

  @Test("sixty clients that each leave a body of 4 MiB unfinished cost less than 64 MiB, and others are served")
  func unfinishedBodies() async throws {
    let daemon = try await Daemon()
    #expect(min(try memoryMax("system"), try memoryMax("user")) >= 1 << 30)
    _ = try await daemon.addPaused("warm")
    let before = daemon.residentBytes
    let body = 4 << 20
    let piece = Data(repeating: UInt8(ascii: " "), count: body - 1)
    let clients = try (0..<60).map { _ in
      let client = try UnixClient(daemon.socketPath)
      client.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: \(body)\r\n\r\n")
      // The daemon takes no more bodies than its budget allows; the other clients wait.
      client.send(piece, patience: 200)
      return client
    }
    #expect(try await daemon.addPaused("x") == "2")
    // Once all that was sent is taken in there is nothing to do.
    try await daemon.waitUntilQuiet()
    let grown = daemon.residentBytes - before
    #expect(grown < 64 << 20, "\(grown >> 20) MiB")
    print("60 unfinished bodies of 4 MiB: RSS grows by \(grown >> 20) MiB")
    for client in clients { client.close() }
    #expect(try await daemon.curl("/healthz").body == "ok\n")
    #expect(try await daemon.addPaused("y") == "3")
  }
}

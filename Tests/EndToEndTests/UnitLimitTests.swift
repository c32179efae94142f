import Foundation
import TestSupport
import Testing

/// The limits of the units are ones that the daemon stays within, or it would be killed for what its clients do.
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

  @Test("sixty clients that each leave a body of 4 MiB unfinished stay below MemoryMax, and others are served")
  func unfinishedBodies() async throws {
    let daemon = try await Daemon()
    let limit = min(try memoryMax("system"), try memoryMax("user"))
    let body = 4 << 20
    let piece = Data(repeating: UInt8(ascii: " "), count: body - 1)
    let clients = try (0..<60).map { _ in
      let client = try UnixClient(daemon.socketPath)
      client.send("POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: \(body)\r\n\r\n")
      client.send(piece, patience: 10_000)
      return client
    }
    #expect(try await daemon.addPaused("x") == "1")
    // Once all that was sent is taken in there is nothing to do.
    try await daemon.waitUntilQuiet()
    #expect(daemon.residentBytes < limit / 2, "\(daemon.residentBytes >> 20) MiB of \(limit >> 20)")
    for client in clients { client.close() }
    #expect(try await daemon.curl("/healthz").body == "ok\n")
    #expect(try await daemon.addPaused("y") == "2")
  }
}

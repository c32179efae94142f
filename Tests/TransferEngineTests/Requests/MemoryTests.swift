import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

/// Bodies are not loaded into memory as a whole. A child process transfers 192 MiB and prints how much more memory it
/// used than for a small request. `scripts/bench.sh engine` does the same with 10 GiB.
@Suite(.timeLimit(.minutes(5))) struct MemoryTests {
  static let size: Int64 = 192 << 20
  /// The required limit.
  static let limitKiB = 32 << 10

  private func peakKiB(_ arguments: [String]) async throws -> Int {
    let result = try await Launch.engineBench(arguments + ["--memory"]).runSuccessfully(timeout: .seconds(100))
    return try #require(result.lines.first.flatMap { Int($0) }, "\(result.stdout)")
  }

  /// Creates a file of zeros that uses no disk space.
  private func sparseFile(_ path: String) throws {
    #expect(creat(path, 0o600).closed && truncate(path, off_t(Self.size)) == 0)
  }

  @Test("a form with a large file is sent in constant memory")
  func form() async throws {
    let directory = try TemporaryDirectory()
    try sparseFile(directory.path("large"))
    let server = try LoopbackServer { _ in .response(200, text: "stored") }
    let peak = try await peakKiB(["form", directory.path("large"), server.url("/form")])
    #expect(peak <= Self.limitKiB)
    let sent = try #require(server.requests.last)
    #expect(sent.bodyLength > Self.size && sent.isBodyComplete)
  }

  @Test("a large stream with a slow reader is received in constant memory")
  func stream() async throws {
    let nginx = try await Nginx()
    try sparseFile(nginx.root + "/large")
    let peak = try await peakKiB(["stream", nginx.url("/large"), "200"])
    #expect(peak <= Self.limitKiB)
  }
}

extension Int32 {
  /// Closes the descriptor; `false` if it is invalid.
  fileprivate var closed: Bool { self >= 0 && close(self) == 0 }
}

import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

/// Permissions, modification time and the largest size of a downloaded file, alone and in a group.
@Suite(.timeLimit(.minutes(5))) struct FileAttributesTests {
  private static let payload = Payload(size: 10_000)
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private struct Status: Equatable {
    var mode: mode_t
    var modified: Int
  }

  private static func status(_ path: String) -> Status? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Status(mode: status.st_mode & 0o777, modified: status.st_mtim.tv_sec)
  }

  private static func server(_ framing: @escaping @Sendable (inout Answer) -> Void = { _ in }) throws -> LoopbackServer
  {
    try LoopbackServer(
      FileBehaviour.file(payload).answering { answer, _ in
        answer.headers["Last-Modified"] = date
        framing(&answer)
      })
  }

  /// - Returns: the response, and the names in the directory afterwards.
  private static func download(
    _ server: LoopbackServer, _ directory: TemporaryDirectory, inGroup: Bool, options: DownloadOptions = [],
    _ change: (inout FileAttributes) -> Void
  ) async throws -> FileResponse {
    let session = Session()
    var destination = DownloadDestination(directory: directory.path, name: "a")
    change(&destination.attributes)
    let request = TransferRequest(url: try RequestURL(server.url("/a")))
    guard inGroup else { return await session.download(request, to: destination, options: options).response() }
    let download = GroupDownload(tag: 1, request: request, to: destination, options: options)
    for await outcomes in session.downloads([download]) {
      if let outcome = outcomes.first { return outcome.response }
    }
    throw TestSupportError.failed(program: "group", reason: "it has no outcome")
  }

  @Test("a file gets the given permissions, whatever it replaces", arguments: [true, false])
  func permissions(_ inGroup: Bool) async throws {
    let server = try Self.server()
    let directory = try TemporaryDirectory()
    let path = try directory.file("a", text: "old")
    chmod(path, 0o600)
    let response = try await Self.download(server, directory, inGroup: inGroup, options: [.removePreviousFile]) {
      $0.permissions = 0o751
    }
    #expect(response.error == nil && Self.status(path)?.mode == 0o751)
  }

  @Test("a file gets the server's modification time only if it is wanted and known", arguments: [true, false])
  func time(_ inGroup: Bool) async throws {
    let directory = try TemporaryDirectory()
    let began = Glibc.time(nil)
    for (date, isWanted, expected) in [
      (Self.date, true, 784_111_777), (Self.date, false, nil), ("soon", true, nil), (nil, true, nil),
    ] as [(String?, Bool, Int?)] {
      let server = try Self.server { $0.headers["Last-Modified"] = date }
      let response = try await Self.download(server, directory, inGroup: inGroup, options: [.removePreviousFile]) {
        $0.usesRemoteTime = isWanted
      }
      #expect(response.error == nil)
      let modified = try #require(Self.status(directory.path("a"))).modified
      #expect(expected.map { modified == $0 } ?? (modified >= began - 1), "\(date ?? "none") \(isWanted)")
    }
  }

  @Test("a file that is announced as too large is refused before it is written", arguments: [true, false])
  func announced(_ inGroup: Bool) async throws {
    let server = try Self.server()
    let directory = try TemporaryDirectory()
    let refused = try await Self.download(server, directory, inGroup: inGroup) { $0.maximumBytes = 9_999 }
    #expect(refused.error?.code == .fileTooLarge && refused.bytesOnDisk == 0)
    #expect(refused.error?.isTransient == false)
    #expect(try directory.names().isEmpty)
    let accepted = try await Self.download(server, directory, inGroup: inGroup) { $0.maximumBytes = 10_000 }
    #expect(accepted.error == nil)
  }

  @Test("a file of unknown length is refused at the first byte above the limit", arguments: [true, false])
  func unannounced(_ inGroup: Bool) async throws {
    let server = try Self.server { $0.framing = .chunks(isEnded: true) }
    let directory = try TemporaryDirectory()
    let refused = try await Self.download(server, directory, inGroup: inGroup) { $0.maximumBytes = 9_999 }
    #expect(refused.error?.code == .fileTooLarge)
    let fits = try TemporaryDirectory()
    let accepted = try await Self.download(server, fits, inGroup: inGroup) { $0.maximumBytes = 10_000 }
    #expect(accepted.error == nil)
  }

  @Test(
    "the time of a version is that of the protocol, or Last-Modified",
    arguments: [
      (nil, nil, nil), (nil, "Sun, 06 Nov 1994 08:49:37 GMT", [784_111_777, 0]),
      (1_500_000_000, "x", [1, 500_000_000]),
      (-1, nil, [-1, 999_999_999]), (Int64.max, nil, [9_223_372_036, 854_775_807]), (nil, "never", nil),
    ] as [(Int64?, String?, [Int]?)])
  func modified(_ nanoseconds: Int64?, _ date: String?, _ expected: [Int]?) {
    var validators = Validators(lastModified: date)
    validators.modificationTime = nanoseconds
    #expect(validators.modified.map { [$0.tv_sec, $0.tv_nsec] } == expected)
  }
}

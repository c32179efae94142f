import Foundation
import Glibc
import TestSupport
import Testing

@testable import transferd

@Suite struct LogFileTests {
  /// A log of at most 100 bytes, and the descriptor that it is written to.
  private func write(_ pieces: [Int], in directory: TemporaryDirectory, limit: Int = 100) throws {
    let path = directory.path("transferd.log")
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let log = try #require(LogFile(path: path, descriptor: descriptor, limit: limit))
    for (number, count) in pieces.enumerated() {
      log.willWrite(count)
      let line = String(repeating: "\(number)", count: count)
      #expect(Glibc.write(descriptor, line, count) == count)
    }
  }

  private func sizes(_ directory: TemporaryDirectory) throws -> [String: Int] {
    try Dictionary(
      uniqueKeysWithValues: directory.names().map { name in
        (name, try Data(contentsOf: URL(filePath: directory.path(name))).count)
      })
  }

  @Test("the log is rotated before it exceeds the limit, and no line is cut or lost")
  func limit() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    try write([60, 40], in: directory)
    #expect(try sizes(directory) == ["transferd.log": 100])
    try write([1], in: directory)
    #expect(try sizes(directory) == ["transferd.log": 1, "transferd.log.1": 100])
    try write([70, 70, 70], in: directory)
    #expect(try sizes(directory) == ["transferd.log": 70, "transferd.log.1": 70])
    // A single line longer than the limit is written too.
    try write([500], in: directory)
    #expect(try sizes(directory) == ["transferd.log": 500, "transferd.log.1": 70])
    let attributes = try FileManager.default.attributesOfItem(atPath: directory.path("transferd.log"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test("another file, a pipe or a link with the name is not rotated")
  func others() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let path = try directory.file("transferd.log", text: "x")
    let other = open(try directory.file("other", text: "y"), O_WRONLY | O_CLOEXEC)
    defer { close(other) }
    #expect(LogFile(path: path, descriptor: other) == nil)
    #expect(LogFile(path: directory.path("none"), descriptor: other) == nil)
    symlink(directory.path("other"), directory.path("link"))
    #expect(LogFile(path: directory.path("link"), descriptor: other) == nil)
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    defer { ends.forEach { _ = close($0) } }
    #expect(LogFile(path: path, descriptor: ends[1]) == nil)
  }
}

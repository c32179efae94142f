import ArgumentParser
import Foundation
import Glibc
import TestSupport
import Testing

@testable import transferctl

@Suite struct HeaderSourceTests {
  private func headers(_ text: String) throws -> [String] {
    try headers(Data(text.utf8))
  }

  private func headers(_ data: Data) throws -> [String] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    try data.write(to: URL(fileURLWithPath: directory.path("headers")))
    return try HeaderSource.file(directory.path("headers")).headers().map { "\($0.name)=\($0.value)" }
  }

  @Test("each line is a header in curl's form")
  func lines() throws {
    #expect(
      try headers("Authorization: Bearer a:b\r\n\n  \nX-Empty:\nX-Last:  v  ") == [
        "Authorization=Bearer a:b", "X-Empty=", "X-Last=v",
      ])
  }

  @Test(
    "a fault names its line but never shows its text",
    arguments: [
      ("A: 1\nsecretvalue\n", "line 2: a header must have the form"),
      ("A: 1\n\nsecret value: x\n", "line 3: it does not begin with"),
      ("Host: secretvalue\n", "line 1: the header Host is set by transferd"),
      ("A: secret\u{1}value\n", "line 1: the value of the header A contains a control character"),
      ("", "contains no header"),
      ("\n\n", "contains no header"),
    ])
  func faults(_ text: String, _ message: String) throws {
    let failure = try #require(throws: CommandFailure.self) { try headers(text) }
    #expect(failure.message?.contains(message) == true, "\(failure.message ?? "")")
    #expect(failure.message?.contains("secret") == false)
    #expect(failure.status == .usage)
  }

  @Test("the size and the number of headers are limited")
  func bounds() throws {
    #expect(try headers((1...100).map { "X-\($0): 1" }.joined(separator: "\n")).count == 100)
    let many = try #require(throws: CommandFailure.self) {
      try headers((1...101).map { "X-\($0): 1" }.joined(separator: "\n"))
    }
    #expect(many.message?.contains("line 101: more than 100 headers") == true)
    let large = try #require(throws: CommandFailure.self) {
      try headers("A: " + String(repeating: "x", count: 3 << 20))
    }
    #expect(large.message?.contains("larger than \(HeaderSource.maximumBytes) bytes") == true)
    let text = try #require(throws: CommandFailure.self) { try headers(Data([65, 58, 0xFF])) }
    #expect(text.message?.contains("line 1: it is not UTF-8") == true)
  }

  @Test("a file that cannot be read is named")
  func unreadable() throws {
    let missing = try #require(throws: CommandFailure.self) { try HeaderSource.file("/nonexistent/h").headers() }
    #expect(missing.message?.contains("cannot read headers from /nonexistent/h: No such file") == true)
    let directory = try #require(throws: CommandFailure.self) { try HeaderSource.file("/").headers() }
    #expect(directory.message?.contains("directory") == true)
  }

  @Test("an inherited descriptor is read once, to its end, and closed; any other descriptor is refused")
  func descriptor() throws {
    // Open this one first: otherwise it might get the number of a closed descriptor.
    let own = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(own) }
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let text = "X-Key: value\n"
    #expect(write(ends[1], text, text.utf8.count) == text.utf8.count)
    close(ends[1])
    let source = HeaderSource.descriptor(ends[0])
    #expect(try source.headers().map(\.value) == ["value"])
    // The options are read a second time.
    #expect(try source.headers().map(\.value) == ["value"])
    let closed = try #require(throws: CommandFailure.self) { try HeaderSource.descriptor(9999).headers() }
    #expect(closed.message?.contains("descriptor 9999: it is not open") == true)
    #expect(throws: CommandFailure.self) { try HeaderSource.descriptor(own).headers() }
    #expect(fcntl(own, F_GETFD) >= 0)
  }

  @Test(
    "standard input can be used only once",
    arguments: [
      ["add", "-i", "-", "--header", "@-"], ["add", "http://h/a", "--header", "@-", "--header-fd", "0"],
      ["upload", "-", "--name", "n", "--to", "http://h/", "--header", "@-"],
      ["upload", "-i", "-", "--to", "http://h/", "--header-fd", "0"], ["add", "http://h/a", "--header", "@"],
      ["add", "http://h/a", "--header-fd", "1"], ["add", "http://h/a", "--header-fd", "-1"],
      ["add", "http://h/a", "--header", "@/x", "--header", "@/x"],
    ])
  func usage(_ words: [String]) {
    #expect(throws: (any Error).self) { try Transferctl.parseAsRoot(words) }
  }
}

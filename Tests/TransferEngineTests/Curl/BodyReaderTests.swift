import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct BodyReaderTests {
  /// A body of segments in memory and in two files, and its expected bytes.
  private func mixed(_ directory: TemporaryDirectory) throws -> (RequestBody, Data) {
    let one = Payload(size: 10_000, seed: 1)
    let two = Payload(size: 300_000, seed: 2)
    let first = try directory.file("one", one.data)
    let second = try directory.file("two", two.data)
    let segments: [BodySegment] = [
      .data(Data("begin".utf8)), .file(path: first, range: 0..<10_000), .data(Data()),
      .file(path: second, range: 5..<5), .file(path: second, range: 4096..<300_000), .data(Data("-".utf8)),
      .file(path: second, range: 0..<17), .file(path: first, range: 9999..<10_000), .data(Data("end".utf8)),
    ]
    let whole =
      Data("begin".utf8) + one.data + two.bytes(4096..<300_000) + Data("-".utf8) + two.bytes(0..<17)
      + one.bytes(9999..<10_000) + Data("end".utf8)
    return (.segments(segments), whole)
  }

  private func read(_ reader: BodyReader, by size: Int) throws -> Data {
    var data = Data()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    defer { buffer.deallocate() }
    while true {
      let count = try reader.read(into: buffer)
      if count == 0 { return data }
      data.append(contentsOf: buffer[..<count])
    }
  }

  @Test("segments are read as one body, with any buffer size", arguments: [1, 7, 4096, 65_536, 1 << 20])
  func whole(_ size: Int) throws {
    let directory = try TemporaryDirectory()
    let (body, expected) = try mixed(directory)
    let reader = try BodyReader(body)
    #expect(reader.size == Int64(expected.count))
    #expect(try read(reader, by: size) == expected)
    #expect(try read(reader, by: size).isEmpty)
  }

  @Test("a body can be read again from any offset")
  func seek() throws {
    let directory = try TemporaryDirectory()
    let (body, expected) = try mixed(directory)
    let reader = try BodyReader(body)
    let places = [0, 1, 4, 5, 6, 10_004, 10_005, 10_006, 305_908, 305_909, 305_910, expected.count - 1, expected.count]
    for place in places + places.reversed() {
      #expect(reader.seek(to: Int64(place)))
      #expect(try read(reader, by: 10_000) == expected[place...])
    }
    #expect(!reader.seek(to: Int64(expected.count) + 1))
    #expect(!reader.seek(to: -1))
  }

  @Test(
    "a body that is empty has length 0",
    arguments: [RequestBody.data(Data()), .segments([]), .segments([.data(Data())])])
  func empty(_ body: RequestBody) throws {
    let reader = try BodyReader(body)
    #expect(reader.size == 0)
    #expect(reader.seek(to: 0))
    #expect(try read(reader, by: 10).isEmpty)
  }

  @Test("a slice of Data is sent as that slice")
  func slice() throws {
    let data = Data("0123456789".utf8)[3..<7]
    #expect(try read(BodyReader(.data(data)), by: 3) == Data("3456".utf8))
    #expect(try read(BodyReader(.segments([.data(data), .data(data)])), by: 3) == Data("34563456".utf8))
  }

  @Test("10,000 files need one descriptor")
  func manyFiles() throws {
    let directory = try TemporaryDirectory()
    let files = try (0..<50).map { try directory.file("f\($0)", text: "\($0),") }
    let segments = (0..<10_000).map { BodySegment.file(path: files[$0 % 50], range: 0..<($0 % 50 < 10 ? 2 : 3)) }
    let reader = try BodyReader(.segments(segments))
    let before = try descriptors(within: directory)
    _ = reader.seek(to: reader.size / 2)
    var buffer = [UInt8](repeating: 0, count: 1000)
    for _ in 0..<10 { _ = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) } }
    #expect(before == 0)
    #expect(try descriptors(within: directory) == 1)
    reader.close()
    #expect(try descriptors(within: directory) == 0)
  }

  private func descriptors(within directory: TemporaryDirectory) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?
        .hasPrefix(directory.path + "/") == true
    }
  }

  @Test("a body that cannot be sent completely is refused before anything is sent")
  func refused() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("f", Data(count: 10))
    let fifo = directory.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let bodies: [RequestBody] = [
      .file(path: directory.path("missing")), .file(path: directory.path), .file(path: fifo),
      .segments([.file(path: directory.path("missing"), range: 0..<1)]),
      .segments([.file(path: directory.path, range: 0..<1)]), .segments([.file(path: fifo, range: 0..<1)]),
      .segments([.file(path: file, range: 0..<10), .file(path: file, range: 0..<11)].reversed()),
      .segments([.file(path: file, range: -1..<3)]),
    ]
    for body in bodies {
      #expect { try BodyReader(body) } throws: { if case TransferError.file = $0 { true } else { false } }
    }
  }

  @Test("a file that becomes shorter while it is read is an error", arguments: [true, false])
  func shrunk(_ isWhole: Bool) throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("f", Data(repeating: 7, count: 10_000))
    let reader = try BodyReader(isWhole ? .file(path: file) : .segments([.file(path: file, range: 0..<10_000)]))
    var buffer = [UInt8](repeating: 0, count: 100)
    #expect(try buffer.withUnsafeMutableBytes { try reader.read(into: $0) } == 100)
    #expect(truncate(file, 150) == 0)
    #expect { try read(reader, by: 100) } throws: { "\($0)".contains("became shorter") }
  }

  @Test("a file that grows is sent with its original length")
  func grown() throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("f", text: "short")
    let reader = try BodyReader(.file(path: file))
    try directory.file("f", text: "shortly")
    #expect(try read(reader, by: 100).count == 5)
  }

  @Test("a body of segments is sent, and is sent again after a 307")
  func onTheWire() async throws {
    let directory = try TemporaryDirectory()
    let (body, expected) = try mixed(directory)
    let server = try LoopbackServer { request in
      request.path == "/from" ? .response(307, headers: ["Location": "/to"]) : .response(201)
    }
    let response = await Session().request(try RequestURL(server.url("/from")), method: .put, body: body).response()
    #expect(response.head?.status == 201)
    #expect(server.requests.map(\.bodySHA256) == [sha256(of: expected), sha256(of: expected)])
    #expect(server.requests[0].headers["Content-Length"] == "\(expected.count)")
  }
}

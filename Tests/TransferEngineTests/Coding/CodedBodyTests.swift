import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// Coded bodies on the wire (faults A18, A33, G6).
@Suite(.timeLimit(.minutes(5))) struct CodedBodyTests {
  private static let payload = Payload(size: 200_000)

  private static func server(_ coding: String, _ body: Data, isChunked: Bool = false) throws -> LoopbackServer {
    try LoopbackServer { request in
      if isChunked {
        return [
          .status(200, headers: ["Content-Encoding": coding, "Transfer-Encoding": "chunked"]), .chunk(body), .lastChunk,
          .keepAlive,
        ]
      }
      return .response(200, headers: ["Content-Encoding": coding], body: body)
    }
  }

  private static func encoded(_ coding: String) -> Data {
    switch coding {
    case "gzip": gzip(payload.data)
    case "deflate": zlib(payload.data)
    case "br": brotli(payload.data)
    default: zstandard(payload.data)
    }
  }

  @Test("all codings are asked for, and undone", arguments: ["gzip", "deflate", "br", "zstd"], [true, false])
  func data(_ coding: String, _ isChunked: Bool) async throws {
    let server = try Self.server(coding, Self.encoded(coding), isChunked: isChunked)
    let response = await Session().request(try RequestURL(server.url("/"))).response()
    #expect(response.error == nil)
    #expect(response.data == Self.payload.data)
    #expect(server.requests[0].headers["Accept-Encoding"] == "gzip, deflate, br, zstd")
  }

  @Test(
    "a coded body that ends early is no body, though its length is right",
    arguments: ["gzip", "deflate", "br", "zstd"], [true, false])
  func truncated(_ coding: String, _ isChunked: Bool) async throws {
    let server = try Self.server(coding, Self.encoded(coding).dropLast(1), isChunked: isChunked)
    let response = await Session().request(try RequestURL(server.url("/"))).response()
    guard case .response(.undecodable)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == true)
    // Nor is it a file, where it was not asked for.
    let room = try DownloadRoom()
    let download = try await room.download(server).response()
    guard case .response(.undecodable)? = download.error else {
      Issue.record("\(String(describing: download.error))")
      return
    }
    #expect(try room.names() == [])
  }

  @Test("a download that is coded without a request is decoded too", arguments: ["gzip", "deflate", "br", "zstd"])
  func download(_ coding: String) async throws {
    let server = try Self.server(coding, Self.encoded(coding))
    let room = try DownloadRoom()
    #expect(try await room.download(server).response().error == nil)
    try room.expectOnly(Self.payload)
  }

  @Test("a bomb does not fill the disk")
  func bomb() async throws {
    let server = try LoopbackServer(.file(Self.payload).gzipBomb(unfoldingTo: 200 << 20))
    var configuration = SessionConfiguration()
    configuration.decodingLimit = DecodingLimit(freeBytes: 8 << 20, ratio: 20)
    let room = try DownloadRoom(Session(configuration: configuration))
    let response = try await room.download(server).response()
    guard case .response(.bodyTooLarge)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(response.bytesReceived < 64 << 20)
    #expect(try room.names() == [])
  }

  @Test("no body, no coding: HEAD, 204, and a length of 0")
  func empty() async throws {
    let server = try LoopbackServer { request in
      request.path == "/204"
        ? .response(204, headers: ["Content-Encoding": "gzip"])
        : .response(200, headers: ["Content-Encoding": "gzip"])
    }
    for (path, method) in [("/", HTTPRequest.Method.get), ("/", .head), ("/204", .get)] {
      let response = await Session().request(try RequestURL(server.url(path)), method: method).response()
      #expect(response.error == nil)
      #expect(response.text.isEmpty)
    }
  }

  @Test("what the request itself says of codings is what is asked for, and is undone")
  func own() async throws {
    let server = try Self.server("gzip", Self.encoded("gzip"))
    let response = await Session().request(
      try RequestURL(server.url("/")), headers: [.acceptEncoding: "gzip;q=0.5"]
    ).response()
    #expect(response.data == Self.payload.data)
    #expect(server.requests[0].headers["Accept-Encoding"] == "gzip;q=0.5")
  }
}

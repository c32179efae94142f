import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// Compressed response bodies (faults A18, A33, G6).
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

  @Test(
    "all supported content codings are requested and decoded", arguments: ["gzip", "deflate", "br", "zstd"],
    [true, false])
  func data(_ coding: String, _ isChunked: Bool) async throws {
    let server = try Self.server(coding, Self.encoded(coding), isChunked: isChunked)
    let response = await Session().request(try RequestURL(server.url("/"))).response()
    #expect(response.error == nil)
    #expect(response.data == Self.payload.data)
    #expect(server.requests[0].headers["Accept-Encoding"] == "gzip, deflate, br, zstd")
  }

  @Test(
    "a compressed body that ends early is an error, even if its length is correct",
    arguments: ["gzip", "deflate", "br", "zstd"], [true, false])
  func truncated(_ coding: String, _ isChunked: Bool) async throws {
    let server = try Self.server(coding, Self.encoded(coding).dropLast(1), isChunked: isChunked)
    let response = await Session().request(try RequestURL(server.url("/"))).response()
    guard case .response(.undecodable)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == true)
    // A download whose body is compressed without a request fails as well.
    let fixture = try DownloadFixture()
    let download = try await fixture.download(server).response()
    guard case .response(.undecodable)? = download.error else {
      Issue.record("\(String(describing: download.error))")
      return
    }
    #expect(try fixture.names() == [])
  }

  @Test(
    "a download is decoded if the server compresses it without being asked",
    arguments: ["gzip", "deflate", "br", "zstd"])
  func download(_ coding: String) async throws {
    let server = try Self.server(coding, Self.encoded(coding))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server).response().error == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a decompression bomb does not fill the disk")
  func bomb() async throws {
    let server = try LoopbackServer(.file(Self.payload).gzipBomb(unfoldingTo: 200 << 20))
    var configuration = SessionConfiguration()
    configuration.decodingLimit = DecodingLimit(freeBytes: 8 << 20, ratio: 20)
    let fixture = try DownloadFixture(Session(configuration: configuration))
    let response = try await fixture.download(server).response()
    guard case .response(.bodyTooLarge)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == false)
    #expect(response.bytesReceived < 64 << 20)
    #expect(try fixture.names() == [])
  }

  @Test("Content-Encoding is ignored for HEAD, 204 and empty bodies")
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

  @Test("the request's own Accept-Encoding is sent, and the response is decoded")
  func own() async throws {
    let server = try Self.server("gzip", Self.encoded("gzip"))
    let response = await Session().request(
      try RequestURL(server.url("/")), headers: [.acceptEncoding: "gzip;q=0.5"]
    ).response()
    #expect(response.data == Self.payload.data)
    #expect(server.requests[0].headers["Accept-Encoding"] == "gzip;q=0.5")
  }
}

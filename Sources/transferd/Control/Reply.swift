import FoundationEssentials
import HTTPServer
import NIOCore
import NIOHTTP1
import TransferAPI

/// Responses in the API's forms.
enum Reply {
  /// Streams are written in pieces of about this size, in bytes: a client that does not read holds one of them in memory.
  static let pieceBytes = 1 << 16

  static func json(_ value: some Encodable, status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:]) throws
    -> Response
  {
    var headers = headers
    headers.add(name: "Content-Type", value: "application/json")
    return Response(status: status, headers: headers, body: .bytes(ByteBuffer(bytes: try line(value))))
  }

  /// A value whose part of the server's memory is kept until the client has read it.
  static func json(_ value: some Encodable, holding memory: MemoryBudget.Reservation?) throws -> Response {
    guard let memory else { return try json(value) }
    return pieces(of: ByteBuffer(bytes: try line(value)), holding: memory)
  }

  /// A page whose length is not known before it is made. A long one needs a part of the server's memory until the client
  /// has read it.
  /// - Throws: `Problem` if too many long pages wait to be read.
  static func json(_ page: JobPage, for request: Request) throws -> Response {
    let text = ByteBuffer(bytes: try line(page))
    guard text.readableBytes > freePageBytes else {
      return Response(status: .ok, headers: ["Content-Type": "application/json"], body: .bytes(text))
    }
    guard let memory = request.tryReserve(min(text.readableBytes, maximumPageShare)) else {
      throw Problem(.unavailable, "too many long responses wait to be read; read them first, or use a smaller limit")
    }
    return pieces(of: text, holding: memory)
  }

  /// A page up to this size needs no part of the server's memory, in bytes.
  private static let freePageBytes = 1 << 20
  /// What a page takes of that memory at most, in bytes: the share of one member.
  private static let maximumPageShare = 8 << 20

  private static func pieces(of text: ByteBuffer, holding memory: MemoryBudget.Reservation) -> Response {
    Response(
      status: .ok, headers: ["Content-Type": "application/json"],
      body: .stream { writer in
        var rest = text
        while let piece = rest.readSlice(length: min(pieceBytes, rest.readableBytes)), piece.readableBytes > 0 {
          // A slice would keep all of the text until it is read.
          try await writer.write(ByteBuffer(bytes: piece.readableBytesView))
        }
        withExtendedLifetime(memory) {}
      })
  }

  static func problem(_ problem: Problem) -> Response {
    let data = (try? line(problem)) ?? Data()
    return Response(
      status: .init(statusCode: problem.status), headers: ["Content-Type": "application/problem+json"],
      body: .bytes(ByteBuffer(bytes: data)))
  }

  static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
    Response(status: .ok, headers: ["Content-Type": type], body: .bytes(ByteBuffer(string: text)))
  }

  /// Lines of JSON, written while they are made.
  static func lines(_ write: @escaping @Sendable (ResponseWriter) async throws -> Void) -> Response {
    Response(status: .ok, headers: ["Content-Type": "application/x-ndjson"], body: .stream(write))
  }

  /// A value and a newline.
  static func line(_ value: some Encodable) throws -> Data {
    var data = try WireCoding.encoder().encode(value)
    data.append(UInt8(ascii: "\n"))
    return data
  }
}

extension Problem {
  /// For a request that breaks HTTP or a limit of the server.
  init(_ error: RequestError) {
    let code: Problem.Code =
      switch error {
      case .malformed, .bodyCutOff, .unsupportedVersion, .headTimeout, .bodyTimeout: .invalid
      case .headTooLarge, .targetTooLong, .bodyTooLarge: .tooLarge
      case .outOfMemory, .tooManyConnections: .unavailable
      }
    self.init(code, "\(error)")
    status = Int(error.status.code)
  }
}

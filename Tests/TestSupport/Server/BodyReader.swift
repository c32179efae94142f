import Digests
import Foundation

/// Reads a request's body in either framing (RFC 9112 §6) and records it.
struct BodyReader {
  private enum Framing {
    case length(Int64)
    case chunk(left: Int64)
    case ended
  }

  private var framing: Framing
  private var kept = Data()
  private var length: Int64 = 0
  private var hash = IncrementalHash(.sha256)

  init(_ headers: HeaderList) {
    if headers["Transfer-Encoding"]?.lowercased() == "chunked" {
      framing = .chunk(left: 0)
    } else if let length = headers["Content-Length"].flatMap({ Int64($0) }), length > 0 {
      framing = .length(length)
    } else {
      framing = .ended
    }
  }

  var isEmpty: Bool { if case .ended = framing { length == 0 } else { false } }

  mutating func read(from socket: ClientSocket, upTo limit: Int64) throws {
    var left = limit
    while left > 0 {
      switch framing {
      case .ended:
        return
      case .length(let rest):
        let count = try take(min(rest, left), from: socket)
        framing = rest == count ? .ended : .length(rest - count)
        left -= count
      case .chunk(left: 0):
        let size = try socket.readLine()
        guard let size = Int64(size.prefix { $0 != ";" }, radix: 16) else { throw ClientSocket.Gone() }
        framing = .chunk(left: size)
        if size > 0 { continue }
        while try !socket.readLine().isEmpty {}
        framing = .ended
      case .chunk(let rest):
        let count = try take(min(rest, left), from: socket)
        framing = .chunk(left: rest - count)
        if rest == count { _ = try socket.readLine() }
        left -= count
      }
    }
  }

  private mutating func take(_ limit: Int64, from socket: ClientSocket) throws -> Int64 {
    let piece = try socket.read(upTo: limit)
    hash.update(piece)
    kept.append(piece.prefix(max(0, LoopbackServer.keptBodyBytes - kept.count)))
    length += Int64(piece.count)
    return Int64(piece.count)
  }

  /// Stores the bytes read so far in the request's record.
  func describe(_ request: inout ServedRequest) {
    request.body = kept
    request.bodyLength = length
    request.bodySHA256 = hash.finalize().hexadecimal
    if case .ended = framing { request.isBodyComplete = true }
  }
}

import Foundation
import TestSupport

/// One random response to a request of a download.
struct HTTPDraft {
  private let request: ServedRequest
  private let version: Payload
  private var headers: HeaderList
  private(set) var summary = ""

  init(_ request: ServedRequest, _ version: Payload, _ validators: HeaderList) {
    self.request = request
    self.version = version
    headers = validators
  }

  private typealias State = Dialogue.State

  mutating func script(_ state: inout Dialogue.State) -> Script {
    if state.random.chance(15) { addHostileField(&state) }
    let kind = state.random.number(0...99)
    switch kind {
    case 0..<22: return whole(&state)
    case 22..<40: return cut(&state)
    case 40..<58: return request.range == nil ? cut(&state) : part(&state)
    case 58..<66: return lengths(&state)
    case 66..<76: return status(&state)
    case 76..<82: return redirect(&state)
    case 82..<90: return coded(&state)
    case 90..<96: return flood(&state)
    default: return noise(&state)
    }
  }

  /// A correct response with the requested range or the whole file.
  private mutating func honestRange(_ state: inout State) -> Range<Int64> {
    let condition = request.headers["If-Range"]
    let isSame = condition == nil || condition == headers["ETag"] || condition == headers["Last-Modified"]
    guard isSame, let range = request.range(of: version.size), !range.isEmpty, !state.random.chance(10) else {
      summary += " 200 of \(version.size)"
      return 0..<version.size
    }
    headers["Content-Range"] = contentRange(range, total: version.size)
    summary += " 206 \(range)"
    return range
  }

  private var honestStatus: Int { headers["Content-Range"] == nil ? 200 : 206 }

  private mutating func whole(_ state: inout State) -> Script {
    let range = honestRange(&state)
    state.offer(version, version.size)
    switch state.random.number(0...2) {
    case 0:
      headers["Content-Length"] = "\(range.count)"
      return [.status(honestStatus, headers: headers), .bodyFrom(version, range), .keepAlive]
    case 1:
      headers["Transfer-Encoding"] = "chunked"
      summary += " chunked"
      return [.status(honestStatus, headers: headers), .chunksFrom(version, range), .lastChunk, .keepAlive]
    default:
      headers["Connection"] = "close"
      summary += " until close"
      return [.status(honestStatus, headers: headers), .bodyFrom(version, range), .close]
    }
  }

  private mutating func cut(_ state: inout State) -> Script {
    let range = honestRange(&state)
    let length = Int64(range.count)
    let end = range.lowerBound + (length > 0 ? state.random.number(0...length - 1) : 0)
    let ending: Script.Step = state.random.chance(30) ? .reset : .close
    summary += " cut at \(end)"
    switch state.random.number(0...3) {
    case 0...1:
      headers["Content-Length"] = "\(length)"
      // An empty file is complete without a byte.
      if length == 0 { state.offer(version, 0) }
      return [.status(honestStatus, headers: headers), .bodyFrom(version, range.lowerBound..<end), ending]
    case 2:
      headers["Transfer-Encoding"] = "chunked"
      summary += ", chunked"
      return [.status(honestStatus, headers: headers), .chunksFrom(version, range.lowerBound..<end), ending]
    default:
      // Without framing the connection's end is the body's end.
      state.offer(version, end)
      summary += ", unframed"
      return [.status(honestStatus, headers: headers), .bodyFrom(version, range.lowerBound..<end), .close]
    }
  }

  /// A 206 with random numbers.
  private mutating func part(_ state: inout State) -> Script {
    let asked = request.range(of: version.size) ?? 0..<version.size
    let near = [asked.lowerBound, asked.upperBound - 1, version.size]
    let first = state.random.chance(60) ? "\(asked.lowerBound)" : state.hostileNumber(near: near)
    let last = state.hostileNumber(near: near)
    let total = state.random.chance(40) ? "*" : state.hostileNumber(near: near)
    let value = state.random.chance(90) ? "bytes \(first)-\(last)/\(total)" : "bytes */\(total)"
    headers["Content-Range"] = value
    summary += " 206 \(value.prefix(120))"
    let start = min(max(0, Int64(first) ?? 0), version.size)
    let wanted = Int64(last).map { min(max(start, $0 == .max ? $0 : $0 + 1), version.size) } ?? version.size
    let body = start..<max(start, min(wanted, version.size))
    for length in [Int64(total), Int64(last).map { $0 == .max ? $0 : $0 + 1 }, body.upperBound] {
      if let length { state.offer(version, length) }
    }
    if state.random.chance(30) {
      headers["Transfer-Encoding"] = "chunked"
      return [.status(206, headers: headers), .chunksFrom(version, body), .lastChunk, .keepAlive]
    }
    if state.random.chance(70) { headers["Content-Length"] = "\(body.count)" }
    return [.status(206, headers: headers), .bodyFrom(version, body), .close]
  }

  /// Lengths that contradict the body or each other.
  private mutating func lengths(_ state: inout State) -> Script {
    let range = honestRange(&state)
    let length = state.hostileNumber(near: [Int64(range.count), version.size])
    headers.add("Content-Length", length)
    summary += " length \(length.prefix(60))"
    if state.random.chance(30) {
      let second = state.hostileNumber(near: [Int64(range.count)])
      headers.add("Content-Length", second)
      summary += " and \(second.prefix(60))"
    }
    if let said = Int64(length.filter { $0 != "+" }), said <= Int64(range.count) {
      state.offer(version, range.lowerBound + said)
    }
    if state.random.chance(20) {
      headers["Transfer-Encoding"] = state.random.one(of: ["chunked", "gzip, chunked", "identity", "xchunked"])
      summary += " \(headers["Transfer-Encoding"] ?? "")"
      state.offer(version, range.upperBound)
      return [.status(honestStatus, headers: headers), .chunksFrom(version, range), .lastChunk, .close]
    }
    state.offer(version, range.upperBound)
    return [.status(honestStatus, headers: headers), .bodyFrom(version, range), .close]
  }

  private mutating func status(_ state: inout State) -> Script {
    let status = state.random.one(of: [
      500, 502, 503, 429, 404, 403, 401, 410, 412, 416, 304, 204, 205, 203, 201, 226, 206, 0, 99, 600, 999, 418,
    ])
    if state.random.chance(50) { headers["Retry-After"] = state.retryAfter() }
    if state.random.chance(20) {
      headers["WWW-Authenticate"] = state.random.one(of: ["Basic realm=\"x", "Digest", "=,="])
    }
    if status == 416 { headers["Content-Range"] = "bytes */\(state.hostileNumber(near: [version.size]))" }
    summary += " \(status) Retry-After \(headers["Retry-After"] ?? "-") \(headers["Content-Range"] ?? "")"
    let text = Data("not the file\n".utf8)
    state.offer(Payload(text), Int64(text.count))
    state.offer(Payload(text), 0)
    // The existing bytes may be the complete file.
    state.offer(version, version.size)
    headers["Content-Length"] = "\(text.count)"
    return [.status(status, headers: headers), .body(text), .close]
  }

  private mutating func redirect(_ state: inout State) -> Script {
    let location = state.random.one(of: [
      request.target, "/other", "/hop\(state.count)", "", "//", "http://127.0.0.1:1/x", "ftp://127.0.0.1/x",
      "file:///etc/passwd", "http://[::1", "http://127.0.0.1:99999/", "\u{0}", "http:///x", "/a b\u{7}",
      "//127.0.0.1:\(request.port)/x", "http://user:pw@127.0.0.1:\(request.port)/y", "?", "#",
      "/" + String(repeating: "a", count: 70_000),
    ])
    let status = state.random.one(of: [301, 302, 303, 307, 308, 300, 305])
    summary += " \(status) to \(location.prefix(60))"
    headers["Location"] = location
    headers["Content-Length"] = "0"
    return [.status(status, headers: headers), .keepAlive]
  }

  /// A body with a content coding, complete or broken, or one that expands to far more bytes.
  private mutating func coded(_ state: inout State) -> Script {
    headers["Content-Range"] = nil
    let codings = ["gzip", "x-gzip", "br", "zstd", "deflate", "gzip, gzip", "compress", "identity", "GZIP"]
    let coding = state.random.one(of: codings)
    headers["Content-Encoding"] = coding
    var body: Data
    let plain = version.size <= 400_000 ? version.data : Data("short".utf8)
    switch coding.lowercased() {
    case "gzip", "x-gzip", "gzip, gzip": body = gzip(plain)
    case "br": body = brotli(plain)
    case "zstd": body = zstandard(plain)
    case "deflate": body = state.random.chance(50) ? zlib(plain) : rawDeflate(plain)
    default: body = plain
    }
    summary += " 200 \(coding), \(body.count) bytes"
    if coding == "gzip", state.random.chance(20) {
      body = gzipBomb(unfoldingTo: 8 << 20)
      summary += ", a bomb"
    } else if state.random.chance(40), !body.isEmpty {
      let place = state.random.number(0...body.count - 1)
      if state.random.chance(50) {
        body = body.prefix(place)
      } else {
        body[body.startIndex + place] ^= 0x55
        // Without a checksum the decoded bytes cannot be verified: they count as offered.
        if !coding.lowercased().hasSuffix("gzip") { state.hasLied = true }
      }
      summary += ", broken at \(place)"
    }
    state.offer(Payload(plain), Int64(plain.count))
    state.offer(Payload(body), Int64(body.count))
    headers["Content-Length"] = "\(body.count)"
    return [.status(200, headers: headers), .body(body), .close]
  }

  /// A response with endless fields, interim responses or trailers, or an endless line.
  private mutating func flood(_ state: inout State) -> Script {
    let ok = Data("HTTP/1.1 200 OK\r\n".utf8)
    let kind = state.random.number(0...5)
    summary += " flood \(kind)"
    switch kind {
    case 0: return [.raw(ok), .endless(Data("X-Field: \(String(repeating: "a", count: 900))\r\n".utf8))]
    case 1: return [.raw(ok + Data("X: ".utf8)), .endless(Data(repeating: 97, count: 4096))]
    case 2: return [.endless(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))]
    case 3: return [.endless(Data("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n".utf8))]
    case 4:
      headers["Transfer-Encoding"] = "chunked"
      state.offer(version, version.size)
      return [
        .status(200, headers: headers), .chunksFrom(version, 0..<version.size), .raw(Data("0\r\n".utf8)),
        .endless(Data("X-Trailer: \(String(repeating: "b", count: 900))\r\n".utf8)),
      ]
    default: return [.endless(Data(repeating: 0x20, count: 4096))]
    }
  }

  private mutating func noise(_ state: inout State) -> Script {
    let kind = state.random.number(0...5)
    summary += " noise \(kind)"
    switch kind {
    case 0: return [.close]
    case 1: return [.reset]
    case 2: return [.raw(state.garbage(1...2000)), .close]
    case 3: return [.raw(Data("HTTP/1.1 200 OK\r\n".utf8) + state.garbage(1...500) + Data("\r\n\r\n".utf8)), .close]
    case 4: return [.raw(Data("HTTP/9.9 200 OK\r\n\r\n".utf8)), .close]
    default:
      // Silence, longer than the stall timeout.
      return [.raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n".utf8)), .stall]
    }
  }

  private mutating func addHostileField(_ state: inout State) {
    let (name, value) = state.random.one(of: [
      ("Content-Disposition", "attachment; filename=\"../../x\""),
      ("Content-Disposition", "attachment; filename*=UTF-8''%2e%2e%2f"),
      ("Content-Disposition", "attachment; filename=\"\(String(repeating: "é", count: 4000))\""),
      ("Content-Disposition", "attachment; filename=\"a\(String(repeating: "\u{301}", count: 2000))\""),
      ("Repr-Digest", "sha-256=:AAAA:"), ("Repr-Digest", ":::,,,==="), ("Digest", "sha-256="), ("Content-MD5", "="),
      ("Content-Range", "bytes 0-9223372036854775807/*"), ("Accept-Ranges", "none"),
      ("Set-Cookie", String(repeating: "c", count: 5000)),
      ("Date", "Fri, 31 Dec 9999 23:59:59 GMT"), ("Age", "99999999999999999999"),
      ("Connection", "upgrade, close, keep-alive"),
      ("Link", "<\(String(repeating: "x", count: 3000))>; rel=duplicate"),
      ("ETag", "\"\(String(repeating: "e", count: 9000))\""),
      ("Alt-Svc", "h2=\":99999\""), ("Strict-Transport-Security", "max-age=99999999999999999999"),
      ("Trailer", "Content-Length"),
    ])
    headers[name] = value
    summary += " [\(name): \(value.prefix(40))]"
  }
}

import Foundation

/// Faults of the message: its length, its coding, its size.
extension FileBehaviour {
  /// Chunked; without the last chunk if `isEnded` is false.
  public func chunked(isEnded: Bool = true, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.framing = .chunks(isEnded: isEnded) }
  }

  /// Neither Content-Length nor chunks: the body ends with the connection, complete or after this many bytes.
  public func withoutContentLength(endingAfter bytes: Int64? = nil, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.framing = .close
      if let bytes { answer.interruptions.append((after: bytes, steps: [.close])) }
    }
  }

  /// Sends these as Content-Length lines, such as `["100", "200"]`, `["-1"]`, `["99999999999999999999"]`.
  public func contentLengths(_ values: [String], on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.headers[all: "Content-Length"] = values }
  }

  /// Sends more bytes than Content-Length, then keeps the connection.
  public func trailingGarbage(_ garbage: Data, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.trailer.append(.raw(garbage)) }
  }

  /// The fault of a gzip stream.
  public enum GzipFlaw: Sendable {
    case none, wrongChecksum, cutShort, trailingGarbage
  }

  /// Sends the body with `Content-Encoding: gzip`, even if the client does not accept it.
  public func gzipped(_ flaw: GzipFlaw = .none, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in
      var body = gzip(answer.content.bytes(answer.range))
      switch flaw {
      case .none: break
      case .wrongChecksum: body[body.count - 8] ^= 0xFF
      case .cutShort: body.removeLast(20)
      case .trailingGarbage: body.append(Data("garbage".utf8))
      }
      let range = answer.headers["Content-Range"]
      answer.setBody(body, contentType: answer.headers["Content-Type"])
      answer.headers["Content-Range"] = range
      answer.headers["Content-Encoding"] = "gzip"
    }
  }

  /// A gzip body of about `size / 158` bytes that expands to `size` zeros.
  public func gzipBomb(unfoldingTo size: Int, on when: When = .always) -> FileBehaviour {
    let bomb = TestSupport.gzipBomb(unfoldingTo: size)
    return answering(on: when) { answer, _ in
      answer.setBody(bomb, contentType: "application/octet-stream")
      answer.headers["Content-Encoding"] = "gzip"
    }
  }

  /// Adds a header line to responses of every status.
  public func header(_ name: String, _ value: String, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.headers.add(name, value) }
  }

  /// Sends this `Content-Disposition`, such as `attachment; filename="../../x"`.
  public func contentDisposition(_ value: String, on when: When = .always) -> FileBehaviour {
    header("Content-Disposition", value, on: when)
  }

  /// Sends this many interim responses before the final one.
  public func interim(
    _ status: Int = 100, times: Int, headers: HeaderList = [:], on when: When = .always
  ) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.prelude += Array(repeating: .status(status, headers: headers), count: times)
    }
  }

  /// Header lines that never end.
  public func endlessHeaders(on when: When = .always) -> FileBehaviour {
    let lines = (0..<64).map { "X-Endless-\($0): \(String(repeating: "x", count: 100))\r\n" }.joined()
    return answering(on: when) { answer, _ in
      answer.instead = [.raw(Data("HTTP/1.1 200 OK\r\n".utf8)), .endless(Data(lines.utf8))]
    }
  }

  /// One header line with this many bytes.
  public func hugeHeader(_ bytes: Int = 1 << 20, on when: When = .always) -> FileBehaviour {
    header("X-Huge", String(repeating: "x", count: bytes), on: when)
  }

  /// This many different cookies.
  public func cookies(_ count: Int, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in
      for number in 0..<count { answer.headers.add("Set-Cookie", "c\(number)=\(number); Path=/") }
    }
  }

  /// The bytes without a head, as in HTTP/0.9.
  public func withoutHead(on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.instead = [.bodyFrom(answer.content, answer.range), .close]
    }
  }

  /// Sends these bytes instead of the whole response, then closes.
  public func raw(_ text: String, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.instead = [.raw(Data(text.utf8)), .close] }
  }
}

import Foundation

/// Faults of `Range` and `Content-Range`.
extension FileBehaviour {
  /// Sends 200 with the whole file for every request.
  public func ignoringRange(on when: When = .always) -> FileBehaviour {
    serving(on: when) { file, _ in file.honoursRange = false }
  }

  /// 206 with an offset that is `bytes` later (or earlier, if negative) than requested, and the bytes of that offset.
  public func shiftingRange(by bytes: Int64, on when: When = .ranged) -> FileBehaviour {
    answering(on: when) { answer, _ in
      guard answer.status == 206 else { return }
      let start = min(max(0, answer.range.lowerBound + bytes), answer.range.upperBound - 1)
      answer.setPart(start..<answer.range.upperBound)
    }
  }

  /// 206 whose header has the requested range, but with the same number of bytes from another place.
  public func lyingAboutRange(by bytes: Int64, on when: When = .ranged) -> FileBehaviour {
    answering(on: when) { answer, _ in
      guard answer.status == 206 else { return }
      let length = Int64(answer.range.count)
      let start = min(max(0, answer.range.lowerBound + bytes), answer.content.size - length)
      answer.range = start..<start + length
    }
  }

  /// 206 with at most `bytes` of the range and a correct header: the client must request the rest.
  public func shorteningRange(to bytes: Int64, on when: When = .ranged) -> FileBehaviour {
    answering(on: when) { answer, _ in
      guard answer.status == 206 else { return }
      answer.setPart(answer.range.lowerBound..<min(answer.range.lowerBound + bytes, answer.range.upperBound))
    }
  }

  /// 206 that claims another total length; unknown (`*`) when `nil`.
  public func claimingTotal(_ total: Int64?, on when: When = .ranged) -> FileBehaviour {
    answering(on: when) { answer, _ in
      guard answer.status == 206 else { return }
      answer.headers["Content-Range"] = TestSupport.contentRange(answer.range, total: total)
    }
  }

  /// Sends this `Content-Range` with a 206, independently of the body; none if `nil`.
  public func contentRange(_ value: String?, on when: When = .ranged) -> FileBehaviour {
    answering(on: when) { answer, _ in
      if answer.status == 206 { answer.headers["Content-Range"] = value }
    }
  }

  public func withoutContentRange(on when: When = .ranged) -> FileBehaviour {
    contentRange(nil, on: when)
  }

  /// 206 as `multipart/byteranges` with one part.
  public func multipartRanges(on when: When = .ranged) -> FileBehaviour {
    answering(on: when) { answer, _ in
      guard answer.status == 206 else { return }
      let range = TestSupport.contentRange(answer.range, total: answer.file.payload.size)
      let head = "--SEAM\r\nContent-Type: application/octet-stream\r\nContent-Range: \(range)\r\n\r\n"
      let body = Data(head.utf8) + answer.content.bytes(answer.range) + Data("\r\n--SEAM--\r\n".utf8)
      answer.setBody(body, contentType: "multipart/byteranges; boundary=SEAM")
    }
  }

  /// 206 with a part of the file, by default the second half, although no range was requested.
  public func unaskedPart(_ part: Range<Int64>? = nil, on when: When = .fresh) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.setPart(part ?? answer.file.payload.size / 2..<answer.file.payload.size)
    }
  }

  /// 416 for every range, optionally with `Content-Range: bytes */length` of the file's or another length.
  public func refusingRange(
    withLength: Bool = true, length: Int64? = nil, on when: When = .ranged
  ) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.replace(416, body: Data("no such range\n".utf8))
      answer.headers["Content-Range"] = withLength ? "bytes */\(length ?? answer.file.payload.size)" : nil
    }
  }
}

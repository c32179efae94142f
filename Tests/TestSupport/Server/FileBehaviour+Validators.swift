import Digests
import Foundation

/// The validators of the file and their changes.
extension FileBehaviour {
  /// The validators after the content changes.
  public enum NewValidators: Sendable {
    /// Those of the new content, modified a day later, as from a correct server.
    case new
    /// The old ones, which is wrong.
    case kept
    case none
  }

  /// Serves other content, by default from the second GET on.
  public func becoming(
    _ payload: Payload, validators: NewValidators = .new, on when: When = .after(1)
  ) -> FileBehaviour {
    serving(on: when) { file, _ in
      file.payload = payload
      switch validators {
      case .new:
        file.etag = file.etag.map { _ in "\"\(payload.name)\"" }
        file.lastModified = file.lastModified?.addingTimeInterval(86_400)
      case .kept:
        break
      case .none:
        file.etag = nil
        file.lastModified = nil
      }
    }
  }

  /// Sends this ETag, quotes included; none when `nil`.
  public func etag(_ etag: String?, on when: When = .always) -> FileBehaviour {
    serving(on: when) { file, _ in file.etag = etag }
  }

  /// Sends this Last-Modified; none when `nil`.
  public func lastModified(_ date: Date?, on when: When = .always) -> FileBehaviour {
    serving(on: when) { file, _ in file.lastModified = date }
  }

  /// Sends a weak ETag, `W/"…"`.
  public func weakETag(on when: When = .always) -> FileBehaviour {
    serving(on: when) { file, _ in file.etag = file.etag.map { "W/" + $0 } }
  }

  public func withoutETag(on when: When = .always) -> FileBehaviour { etag(nil, on: when) }

  public func withoutLastModified(on when: When = .always) -> FileBehaviour { lastModified(nil, on: when) }

  /// Sends neither ETag nor Last-Modified.
  public func withoutValidators(on when: When = .always) -> FileBehaviour {
    withoutETag(on: when).withoutLastModified(on: when)
  }

  /// Sends no validators with a 206, although the 200 has some: that breaks RFC 9110 §15.3.7.
  public func partsWithoutValidators() -> FileBehaviour {
    answering(on: .ranged) { answer, _ in
      guard answer.status == 206 else { return }
      for name in ["ETag", "Last-Modified"] { answer.headers[name] = nil }
    }
  }

  /// Sends another ETag at each request, like different mirrors; Last-Modified stays.
  public func etagPerRequest() -> FileBehaviour {
    serving { file, request in file.etag = file.etag.map { "\"\(request.index)-\($0.dropFirst())" } }
  }

  /// Sends 200 for every `If-Range` with an entity tag; the date form is honoured.
  public func rejectingIfRangeTag(on when: When = .always) -> FileBehaviour {
    serving(on: when) { file, _ in file.honoursIfRangeTag = false }
  }

  /// A digest field of a response.
  public enum DigestField: Sendable {
    /// `Repr-Digest: sha-256=:…:`, of the whole file (RFC 9530).
    case reprDigest
    /// `Content-MD5`, of this response's body (RFC 1864).
    case contentMD5
    /// `x-amz-checksum-sha256`, of the whole file, as S3 sends it.
    case amazonSHA256
  }

  /// Sends a digest, right or wrong.
  public func digest(_ field: DigestField, isRight: Bool = true, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in
      let payload = isRight ? answer.file.payload : Payload(Data("other".utf8))
      switch field {
      case .reprDigest:
        let digest = payload.digest(.sha256).base64EncodedString()
        answer.headers["Repr-Digest"] = "sha-256=:\(digest):"
      case .contentMD5:
        let body = isRight ? answer.content.bytes(answer.range) : Data("other".utf8)
        answer.headers["Content-MD5"] = Payload(body).digest(.md5).base64EncodedString()
      case .amazonSHA256:
        answer.headers["x-amz-checksum-sha256"] = payload.digest(.sha256).base64EncodedString()
      }
    }
  }
}

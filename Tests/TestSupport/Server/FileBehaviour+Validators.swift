import Crypto
import Foundation

/// What the server says about the file's identity, and how that changes.
extension FileBehaviour {
  /// What becomes of ETag and Last-Modified when the content changes.
  public enum NewValidators: Sendable {
    /// Those of the new content, modified a day later: what an honest server says.
    case new
    /// The old ones stay: the client is lied to.
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

  /// Sends the ETag as a weak one, `W/"…"`.
  public func weakETag(on when: When = .always) -> FileBehaviour {
    serving(on: when) { file, _ in file.etag = file.etag.map { "W/" + $0 } }
  }

  public func withoutETag(on when: When = .always) -> FileBehaviour { etag(nil, on: when) }

  public func withoutLastModified(on when: When = .always) -> FileBehaviour { lastModified(nil, on: when) }

  /// Sends neither ETag nor Last-Modified.
  public func withoutValidators(on when: When = .always) -> FileBehaviour {
    withoutETag(on: when).withoutLastModified(on: when)
  }

  /// Last-Modified equals Date, which makes it weak (RFC 9110 §8.8.2.2).
  public func modifiedJustNow(on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.headers["Last-Modified"] = answer.headers["Date"] }
  }

  /// Another ETag at each request, as from mirrors that do not agree; Last-Modified stays.
  public func etagPerRequest() -> FileBehaviour {
    serving { file, request in file.etag = file.etag.map { "\"\(request.index)-\($0.dropFirst())" } }
  }

  /// Answers 200 to every `If-Range` with an entity tag; the date form is honoured.
  public func rejectingIfRangeTag(on when: When = .always) -> FileBehaviour {
    serving(on: when) { file, _ in file.honoursIfRangeTag = false }
  }

  /// A digest field that a server may send along.
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
        let digest = payload.digest(SHA256.self).base64EncodedString()
        answer.headers["Repr-Digest"] = "sha-256=:\(digest):"
      case .contentMD5:
        let body = isRight ? answer.content.bytes(answer.range) : Data("other".utf8)
        answer.headers["Content-MD5"] = Payload(body).digest(Insecure.MD5.self).base64EncodedString()
      case .amazonSHA256:
        answer.headers["x-amz-checksum-sha256"] = payload.digest(SHA256.self).base64EncodedString()
      }
    }
  }
}

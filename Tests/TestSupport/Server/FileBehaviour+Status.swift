import Foundation

/// Responses without the file: refusals, errors, redirects.
extension FileBehaviour {
  /// A `Retry-After` in one of its two forms, or an invalid one.
  public enum RetryAfter: Sendable {
    case seconds(Int)
    /// An HTTP date this many seconds after the response.
    case date(inSeconds: Double)
    case text(String)

    var value: String {
      switch self {
      case .seconds(let seconds): String(seconds)
      case .date(let seconds): httpDate(Date(timeIntervalSinceNow: seconds))
      case .text(let text): text
      }
    }
  }

  /// Sends a status and a small error page, by default always; with `on: .first(2)` the server recovers.
  public func failing(
    _ status: Int, on when: When = .always, retryAfter: RetryAfter? = nil,
    body: String = "<html>error page</html>\n", contentType: String? = "text/html"
  ) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.replace(status, body: Data(body.utf8), contentType: contentType)
      answer.headers["Retry-After"] = retryAfter?.value
    }
  }

  /// A status that has no body: 204, 304.
  public func empty(_ status: Int, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.replace(status, body: Data(), contentType: nil) }
  }

  /// 200 with a page instead of the file, like a login or captcha page.
  public func page(_ html: String = "<html>please log in</html>\n", on when: When = .always) -> FileBehaviour {
    failing(200, on: when, body: html)
  }

  /// An error whose body never ends.
  public func endlessError(_ status: Int = 503, on when: When = .always) -> FileBehaviour {
    let page = Data(repeating: UInt8(ascii: "e"), count: 1 << 16)
    return answering(on: when) { answer, _ in
      answer.instead = [.status(status, headers: ["Connection": "close"]), .endless(page)]
    }
  }

  /// Refuses HEAD; GET is served.
  public func refusingHead(_ status: Int = 405) -> FileBehaviour {
    failing(status, on: When { request, _ in request.method == "HEAD" })
  }

  /// Refuses requests that do not carry this header line.
  public func requiring(
    _ name: String, _ value: String, otherwise status: Int = 401, on when: When = .always
  ) -> FileBehaviour {
    let lacks = When { request, _ in request.headers[name] != value }
    var challenge: HeaderList = [:]
    if status == 401 { challenge["WWW-Authenticate"] = "Basic realm=\"test\"" }
    return failing(status, on: lacks && when).answering(on: lacks && when) { [challenge] answer, _ in
      for (name, value) in challenge { answer.headers.add(name, value) }
    }
  }

  /// Redirects requests, by default all of them: to a path, `//host/…`, `file:…`, another server's URL; `nil` sends no
  /// `Location`.
  public func redirecting(
    to location: String?, status: Int = 302, on when: When = .always
  ) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.replace(status, body: Data("elsewhere\n".utf8))
      answer.headers["Location"] = location
    }
  }

  /// `/hop/3` redirects over `/hop/2` and `/hop/1` to `/file`; other paths are served.
  public func behindRedirects(status: Int = 302) -> FileBehaviour {
    hops(status) { $0 > 1 ? "/hop/\($0 - 1)" : "/file" }
  }

  /// `/hop/1` redirects to `/hop/2` and so on, without end and without a loop.
  public func redirectingForEver(status: Int = 302) -> FileBehaviour {
    hops(status) { "/hop/\($0 + 1)" }
  }

  private func hops(_ status: Int, next: @escaping @Sendable (Int) -> String) -> FileBehaviour {
    answering { answer, request in
      guard request.path.hasPrefix("/hop/"), let number = Int(request.path.dropFirst(5)) else { return }
      answer.replace(status, body: Data())
      answer.headers["Location"] = next(number)
    }
  }
}

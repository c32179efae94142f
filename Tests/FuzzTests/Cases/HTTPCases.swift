import FoundationEssentials
import HTTPTypes

@testable import TransferEngine

extension FuzzCase {
  static let http = [responseHead, trailers, contentRange, retryAfter, redirect, url]

  /// The lines of response heads, including interim ones, and everything that is parsed from a final head of any status.
  private static let responseHead = FuzzCase("response-head") { bytes in
    var input = Input(bytes)
    let limit = 2048
    var parser = ResponseHeadParser(HeadLimits(totalBytes: limit, interims: 3))
    var (taken, interims) = (0, 0)
    for line in input.headLines() {
      taken += line.count
      switch line.withUnsafeBytes({ parser.take($0) }) {
      case .reading: try require(taken <= limit, "a head of \(taken) bytes is read though \(limit) are the limit")
      case .interim(let head):
        interims += 1
        try require(interims <= 3, "more interim responses than the limit")
        try require(head.status < 200, "\(head.status) was parsed as an interim response")
      case .finished(let head): try check(head)
      case .tooLarge: return
      }
    }
  }

  private static func check(_ head: ResponseHead) throws {
    try require(head.status >= 200, "\(head.status) was parsed as a final response")
    for field in head.headers {
      try require(
        !field.value.contains { $0 == "\r" || $0 == "\n" || $0 == "\r\n" || $0 == "\0" }, "a field of two lines")
    }
    do throws(TransferError) {
      if let length = try head.contentLength() { try? require(length >= 0, "a negative length") }
    } catch {
      try require(!"\(error)".hasControls, "an error that steers the terminal")
    }
    for digest in DeclaredDigests.of(head) {
      let digits = [.sha256: 64, .sha512: 128, .sha1: 40, .md5: 32][digest.algorithm]
      try require(digest.hex.utf8.count == digits, "a \(digest.algorithm) of \(digest.hex.utf8.count) digits")
    }
    let validators = Validators(of: head)
    try require(!validators.contradict(validators), "a version contradicts itself")
    if let etag = validators.strongETag { try require(!etag.hasPrefix("W/"), "a weak ETag counts as a strong one") }
    _ = validators.strongDate
    _ = head.contentCoding
    _ = head.isSelfDelimiting
    try require(!"\(head.refusal)".isEmpty, "a refusal without words")
  }

  /// A whole head followed by trailers, which are counted and otherwise ignored.
  private static let trailers = FuzzCase("trailers") { bytes in
    var input = Input(bytes)
    var parser = ResponseHeadParser(HeadLimits(totalBytes: 4096, interims: 3))
    for line in ["HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n", "\r\n"] {
      _ = Array(line.utf8).withUnsafeBytes { parser.take($0) }
    }
    var taken = 0
    for line in input.headLines() where !line.starts(with: "HTTP/".utf8) {
      taken += line.count
      switch line.withUnsafeBytes({ parser.take($0) }) {
      case .reading: try require(taken <= 4096, "\(taken) bytes of trailers are taken")
      case .tooLarge: return
      case .interim, .finished: throw BrokenProperty(description: "a trailer was parsed as a head")
      }
    }
  }

  private static let contentRange = FuzzCase("content-range", maximumLength: 200) { bytes in
    let text = Input(bytes).text
    switch ContentRange(text) {
    case .part(let first, let last, let total):
      try require(0 <= first && first <= last, "the range \(first)-\(last)")
      if let total { try require(last < total, "\(last) of \(total) bytes") }
      let again = ContentRange("bytes \(first)-\(last)/\(total.map(String.init) ?? "*")")
      try require(
        again == .part(first: first, last: last, total: total), "it reads as another range when written again")
    case .unsatisfied(let total): try require(total >= 0, "a total of \(total)")
    case nil: break
    }
  }

  private static let retryAfter = FuzzCase("retry-after", maximumLength: 200) { bytes in
    let text = Input(bytes).text
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    if let date = HTTPDate.parse(text) {
      try require((0..<253_405_000_000).contains(date.timeIntervalSince1970), "the time \(date.timeIntervalSince1970)")
    }
    guard let delay = RetryAfter.delay(from: text, now: now) else { return }
    try require(delay >= .zero, "a wait of \(delay)")
    var generator = SystemRandomNumberGenerator()
    let policy = RetryPolicy(maximumRetryAfter: .seconds(3600))
    let wait = policy.delay(forAttempt: 3, retryAfter: delay, using: &generator)
    try require(wait >= .zero && wait <= .seconds(3610), "a wait of \(wait), an hour at most")
  }

  /// The status and fields of a redirect that answers a request with secrets.
  private static let redirect = FuzzCase("redirect") { bytes in
    var input = Input(bytes)
    guard let head = input.head() else { return }
    for start in ["https://user:pw@host.example/a/b?c", "http://host.example:8080/"] {
      var request = TransferRequest(url: try RequestURL(start), method: .put)
      request.headers = [.authorization: "Bearer SECRET", .cookie: "s=SECRET", .range: "bytes=1-"]
      request.credentials = request.url.credentials
      let next: TransferRequest
      do throws(TransferError) {
        next = try RedirectRule.next(after: request, head: head)
      } catch {
        try require(!"\(error)".contains("SECRET"), "an error shows a secret")
        continue
      }
      try require(next.url.isHTTP, "a redirect leads to \(next.url.scheme)")
      try require(request.url.scheme != "https" || next.url.scheme == "https", "a redirect leaves https")
      guard next.url.origin != request.url.origin else { continue }
      try require(next.headers[.authorization] == nil && next.headers[.cookie] == nil, "a secret leaves its origin")
      try require(next.credentials == nil, "credentials leave their origin")
    }
  }

  private static let url = FuzzCase("url", maximumLength: 1024) { bytes in
    let text = Input(bytes).text
    guard let base = try? RequestURL("https://user:pw@host.example/a/b?c") else { return }
    let found: [RequestURL] = [try? RequestURL(text), try? base.resolving(text), try? RequestURL(allowingS3: text)]
      .compactMap { $0 }
    for url in found {
      try require(!url.string.hasControls && !url.string.contains(" "), "a control character or a blank in a URL")
      try require(!url.host.isEmpty || url.scheme == "file", "no host")
      try require((0...65_535).contains(url.port), "the port \(url.port)")
      try require(text.contains("user:pw") || !Redaction.url(url).contains("user:pw"), "a password is shown")
      guard url.scheme != "s3" else { continue }
      guard let again = try? RequestURL(url.string) else {
        throw BrokenProperty(description: "\(url.string) cannot be read again")
      }
      try require(again.origin == url.origin && again.path == url.path, "\(again.origin) instead of \(url.origin)")
    }
  }
}

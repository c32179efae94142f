import Foundation
import Synchronization

/// A file on a server and the server's faults: a value that is composed in one line.
///
/// `.file(payload)` alone is correct: GET and HEAD, `Range` and `If-Range`, a strong ETag, Last-Modified, 206 and
/// 416 (RFC 9110 §13, §14). Each further call changes some requests, and later calls override earlier ones:
public struct FileBehaviour: Sendable {
  /// Changes the served file before the response is made.
  public typealias ResourceChange = @Sendable (inout ServedFile, ServedRequest) -> Void
  /// Changes the correct response for the served file.
  public typealias AnswerChange = @Sendable (inout Answer, ServedRequest) -> Void

  private var file: ServedFile
  private var resourceChanges: [(When, ResourceChange)] = []
  private var answerChanges: [(When, AnswerChange)] = []

  /// A correct server of this payload.
  public static func file(_ payload: Payload) -> FileBehaviour {
    FileBehaviour(file: ServedFile(payload))
  }

  /// A correct server of this many bytes.
  public static func file(size: Int64, seed: UInt64 = 1) -> FileBehaviour {
    .file(Payload(size: size, seed: seed))
  }

  /// Changes the served file: the basis of the methods about the file.
  public func serving(on when: When = .always, _ change: @escaping ResourceChange) -> FileBehaviour {
    var behaviour = self
    behaviour.resourceChanges.append((when, change))
    return behaviour
  }

  /// Changes the response: the basis of the methods for faults.
  public func answering(on when: When = .always, _ change: @escaping AnswerChange) -> FileBehaviour {
    var behaviour = self
    behaviour.answerChanges.append((when, change))
    return behaviour
  }

  /// A handler with its own request counter.
  public func handler() -> LoopbackServer.Handler {
    let counter = RequestCounter()
    return { request in script(for: request, ordinal: counter.ordinal(of: request)) }
  }

  private func script(for request: ServedRequest, ordinal: Int) -> Script {
    var file = file
    for (when, change) in resourceChanges where when.holds(request, ordinal) {
      change(&file, request)
    }
    var answer = file.answer(to: request)
    for (when, change) in answerChanges where when.holds(request, ordinal) {
      change(&answer, request)
    }
    return answer.script(isHead: request.method == "HEAD")
  }
}

private final class RequestCounter: Sendable {
  private let count = Mutex(0)

  func ordinal(of request: ServedRequest) -> Int {
    count.withLock { count in
      defer { if request.method != "HEAD" { count += 1 } }
      return count
    }
  }
}

/// A file with its validators at the time of one request.
public struct ServedFile: Sendable {
  public var payload: Payload
  /// As sent, quotes included.
  public var etag: String?
  public var lastModified: Date?
  public var contentType: String? = "application/octet-stream"
  /// Whether `Range` is honoured; otherwise every GET gets 200 with the whole file.
  public var honoursRange = true
  /// Whether an entity tag in `If-Range` can match.
  public var honoursIfRangeTag = true

  init(_ payload: Payload) {
    self.payload = payload
    etag = "\"\(payload.name)\""
    lastModified = Date(timeIntervalSince1970: 1_700_000_000)
  }

  /// The correct response to a request, in the order of RFC 9110 §13.2.2.
  func answer(to request: ServedRequest) -> Answer {
    var answer = Answer(file: self)
    answer.headers["Date"] = httpDate(Date())
    guard request.method == "GET" || request.method == "HEAD" else { return answer.with(405) }
    answer.headers["Accept-Ranges"] = honoursRange ? "bytes" : "none"
    answer.headers["ETag"] = etag
    answer.headers["Last-Modified"] = lastModified.map(httpDate)
    if let wanted = request.headers["If-Match"], wanted != "*", wanted != etag { return answer.with(412) }
    if let known = request.headers["If-None-Match"] {
      // Compares weakly (RFC 9110 §13.1.2).
      if let etag, known.trimmingPrefix("W/") == etag.trimmingPrefix("W/") { return answer.with(304) }
    } else if let since = request.headers["If-Modified-Since"], since == lastModified.map(httpDate) {
      return answer.with(304)
    }
    answer.headers["Content-Type"] = contentType
    answer.range = 0..<payload.size
    guard request.method == "GET", honoursRange, isIfRangeTrue(request),
      let range = request.range(of: payload.size)
    else { return answer.with(200) }
    if range.isEmpty {
      answer.headers["Content-Range"] = "bytes */\(payload.size)"
      answer.range = 0..<0
      return answer.with(416)
    }
    answer.setPart(range)
    return answer.with(206)
  }

  /// Compares exactly, and never a weak tag (RFC 9110 §13.1.5).
  private func isIfRangeTrue(_ request: ServedRequest) -> Bool {
    guard let condition = request.headers["If-Range"] else { return true }
    if condition.hasPrefix("W/") { return false }
    if condition.hasPrefix("\"") { return honoursIfRangeTag && condition == etag }
    return condition == lastModified.map(httpDate)
  }
}

/// A date in the format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
public func httpDate(_ date: Date) -> String {
  var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
  var parts = tm()
  gmtime_r(&seconds, &parts)
  let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
  let time = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  let day = "\(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(1900 + parts.tm_year)"
  return "\(days[Int(parts.tm_wday)]), \(day) \(time) GMT"
}

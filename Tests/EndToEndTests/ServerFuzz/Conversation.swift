import Foundation
import Synchronization
import TestSupport

/// One job and a server with random responses. The seed determines each response.
protocol Conversation: Sendable {
  /// The job to add: a line of `POST /v1/jobs:batch`.
  func job(in directory: String) throws -> [String: Any]
  /// The fault of a completed job; `nil` if there is none.
  func fault(ofCompletedJobIn directory: String) throws -> String?
  /// The server's actions, for the report of a finding.
  var answers: [String] { get }
}

/// Content that the server has offered: the first bytes of a version.
struct Offer: Sendable {
  let version: Payload
  let length: Int64

  /// Whether the file has exactly this content.
  func matches(_ path: String) throws -> Bool {
    guard let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64, size == length,
      length <= version.size
    else { return false }
    return try Data(contentsOf: URL(fileURLWithPath: path)) == version.bytes(0..<length)
  }
}

/// The state of one conversation: its random numbers, the offers and the log.
final class Dialogue: Sendable {
  struct State: Sendable {
    var random: SeededGenerator
    var offers: [Offer] = []
    var answers: [String] = []
    /// Whether the server has sent something that cannot be verified: then the result proves nothing.
    var hasLied = false
    var count = 0
  }

  let state: Mutex<State>

  init(seed: UInt64) { state = Mutex(State(random: SeededGenerator(seed: seed))) }

  /// The fault of a completed download's files: there must be one file, with offered content.
  func fault(ofFilesIn directory: String, mustBe wanted: Payload?) throws -> String? {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    guard names.count == 1, let name = names.first, !name.hasPrefix(".") else {
      return "completed, and its directory holds \(names)"
    }
    let path = "\(directory)/\(name)"
    if let wanted {
      return try Offer(version: wanted, length: wanted.size).matches(path)
        ? nil : "completed with a file that its checksum does not fit"
    }
    let (offers, hasLied) = state.withLock { ($0.offers, $0.hasLied) }
    if hasLied { return nil }
    let isOffered = try offers.contains { try $0.matches(path) }
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] ?? 0
    return isOffered ? nil : "completed with a file of \(size) bytes that the server never offered"
  }
}

extension Dialogue.State {
  mutating func offer(_ version: Payload, _ length: Int64) {
    if length >= 0, length <= version.size { offers.append(Offer(version: version, length: length)) }
  }

  /// A number from a hostile server; some are right.
  mutating func hostileNumber(near sizes: [Int64]) -> String {
    let near = random.one(of: sizes + [0])
    return switch random.number(0...19) {
    case 0...4: "\(near)"
    case 5: "\(near &+ 1)"
    case 6: "\(near &- 1)"
    case 7: "9223372036854775807"
    case 8: "9223372036854775806"
    case 9: "9223372036854775808"
    case 10: "18446744073709551615"
    case 11: "18446744073709551616"
    case 12: "-9223372036854775808"
    case 13: "-1"
    case 14: "\(random.number(Int64(0)...Int64.max))"
    case 15: "00000000000000000000000000\(near)"
    case 16: "+\(near)"
    case 17: random.one(of: ["", " ", "0x10", "1e3", "٣", "1,2", "5 5", "NaN", "\u{0}"])
    case 18: "4294967296"
    default: String(repeating: "9", count: random.number(20...400))
    }
  }

  /// The value of a `Retry-After`.
  mutating func retryAfter() -> String {
    random.one(of: [
      "0", "1", "120", "-1", "86400", "99999999999999999999", "9223372036854775807", "1.5", "soon",
      "Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Sun Nov  6 08:49:37 1994",
      "Sun, 99 Foo 99999999999999999999 08:49:37 GMT",
    ])
  }

  /// Random bytes.
  mutating func garbage(_ range: ClosedRange<Int>) -> Data {
    let count = random.number(range)
    return Data(
      (0..<count).map { _ in random.chance(30) ? random.one(of: Array("\r\n:;, <>&\"/".utf8)) : random.number(0...255) }
    )
  }
}

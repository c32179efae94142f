import Foundation
import TestSupport

/// A download by HTTP. The bytes of a body are always those of a version at the place that the head names. Only the
/// head, the framing or the connection is wrong, so a completed file can be checked.
final class HTTPConversation: Conversation {
  private let dialogue: Dialogue
  private let server: LoopbackServer
  private let plan: Plan

  /// The properties that are the same for all requests.
  private struct Plan: Sendable {
    let versions: [Payload]
    let validators: [HeaderList]
    /// The number of the first response with the second version.
    let changesAt: Int?
    let hasChecksum: Bool
    let isNamedByResponse: Bool
    let target: String
  }

  init(seed: UInt64) throws {
    let dialogue = Dialogue(seed: seed)
    let plan = dialogue.state.withLock { Self.plan(&$0, seed) }
    self.dialogue = dialogue
    self.plan = plan
    server = try LoopbackServer { request in dialogue.state.withLock { Self.answer(request, plan, &$0) } }
  }

  private static func plan(_ state: inout Dialogue.State, _ seed: UInt64) -> Plan {
    let sizes: [Int64] = [0, 1, 100, 65_536, 300_000, 1_048_581, 2_500_000]
    let size = state.random.one(of: sizes)
    let other = state.random.chance(50) ? size : state.random.one(of: sizes)
    let kind = state.random.number(0...3)
    let validators = (1...2).map { version -> HeaderList in
      switch kind {
      case 0: ["ETag": "\"v\(version)\""]
      case 1: ["ETag": "W/\"v\(version)\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:3\(version) GMT"]
      case 2:
        ["Last-Modified": "Sun, 06 Nov 1994 08:49:3\(version) GMT", "Date": "Mon, 07 Nov 1994 08:49:37 GMT"]
      default: [:]
      }
    }
    return Plan(
      versions: [Payload(size: size, seed: seed &* 2 &+ 1), Payload(size: other, seed: seed &* 2 &+ 2)],
      validators: validators, changesAt: state.random.chance(30) ? state.random.number(1...3) : nil,
      hasChecksum: state.random.chance(40), isNamedByResponse: state.random.chance(30),
      target: state.random.one(of: ["/a.bin", "/a.tar.gz", "/d/%2e%2e%2fa", "/", "/a?token=x"]))
  }

  func job(in directory: String) throws -> [String: Any] {
    var job: [String: Any] = [
      "url": server.url(plan.target), "directory": directory, "maxAttempts": 3, "stallTimeout": 2,
      "connectTimeout": 5,
    ]
    if plan.hasChecksum { job["checksum"] = "sha-256=\(plan.versions[0].sha256)" }
    if plan.isNamedByResponse || plan.target == "/" { job["nameFromResponse"] = true }
    return job
  }

  func fault(ofCompletedJobIn directory: String) throws -> String? {
    try dialogue.fault(ofFilesIn: directory, mustBe: plan.hasChecksum ? plan.versions[0] : nil)
  }

  var answers: [String] { dialogue.state.withLock { $0.answers } }

  // MARK: Responses

  private static func answer(_ request: ServedRequest, _ plan: Plan, _ state: inout Dialogue.State) -> Script {
    state.count += 1
    let version = state.count > plan.changesAt ?? .max ? 1 : 0
    var draft = HTTPDraft(request, plan.versions[version], plan.validators[version])
    let script = draft.script(&state)
    state.answers.append("\(request.method) \(request.target) range \(request.range ?? "-"): \(draft.summary)")
    return script
  }
}

import Foundation
import Testing

@testable import TransferAPI

@Suite struct EventLineTests {
  static let plain = Event(
    seq: 1, job: JobID(7), at: Date(timeIntervalSince1970: 1_763_698_629.5), kind: .added, to: .queued)

  /// One event for each field and each kind, and one with everything.
  static let events: [Event] = {
    var events = [plain]
    func add(_ change: (inout Event) -> Void) {
      var event = plain
      change(&event)
      events.append(event)
    }
    for kind in Event.Kind.allCases { add { $0.kind = kind } }
    for state in JobState.allCases {
      add { ($0.from, $0.to) = (state, nil) }
      add { ($0.from, $0.to) = (.running, state) }
    }
    for result in JobResult.allCases { add { $0.result = result } }
    for reason in ["", "a \"quoted\" \\ path/with\u{1}\n ä 語"] { add { $0.reason = reason } }
    let failures = [
      JobFailure(code: .http(404), message: "not found", httpStatus: 404, transient: false),
      JobFailure(code: .dns, message: "no \"host\"", transient: true),
    ]
    for failure in failures { add { $0.error = failure } }
    add {
      $0 = Event(
        seq: .max, job: JobID(.max), at: Date(timeIntervalSince1970: 0), kind: .state, from: .running, to: .failed,
        reason: "why", error: failures[0], result: .unchanged)
    }
    return events
  }()

  @Test(arguments: events) func `an event is written as its coder writes it`(event: Event) throws {
    var text = JSONText()
    try EventLine().write(event, to: &text)
    let expected = String(decoding: try WireCoding.encoder().encode(event), as: UTF8.self) + "\n"
    #expect(String(decoding: text.bytes, as: UTF8.self) == expected)
  }

  @Test func `a line that was written can be read`() throws {
    var text = JSONText()
    for event in Self.events { try EventLine().write(event, to: &text) }
    let lines = text.bytes.split(separator: UInt8(ascii: "\n"))
    let read = try lines.map { try WireCoding.decoder().decode(Event.self, from: Data($0)) }
    #expect(read == Self.events)
  }
}

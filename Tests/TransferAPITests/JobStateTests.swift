import Testing
import TransferAPI

@Suite struct JobStateTests {
  /// The table of docs/job-states.md.
  static let table: [JobState: [JobEvent: JobState]] = [
    .queued: [.claim: .running, .pause: .paused, .cancel: .cancelled, .retry: .queued, .expire: .failed],
    .running: [
      .pause: .paused, .cancel: .cancelled, .requeue: .queued, .postpone: .retrying, .fail: .failed,
      .complete: .completed,
    ],
    .retrying: [.claim: .running, .pause: .paused, .cancel: .cancelled, .retry: .queued, .expire: .failed],
    .paused: [.pause: .paused, .resume: .queued, .cancel: .cancelled, .expire: .failed],
    .completed: [:],
    .failed: [.retry: .queued],
    .cancelled: [.cancel: .cancelled, .retry: .queued],
  ]

  @Test("each event in each state has the documented result", arguments: JobState.allCases, JobEvent.allCases)
  func applying(_ state: JobState, _ event: JobEvent) {
    if let next = Self.table[state]?[event] {
      #expect((try? state.applying(event)) == next)
    } else {
      #expect(throws: InvalidTransition(state: state, event: event)) { try state.applying(event) }
    }
  }

  @Test("only a user's request leaves a final state")
  func final() {
    for state in JobState.allCases where state.isFinal {
      for event in JobEvent.allCases where event != .retry {
        #expect((try? state.applying(event)).map { $0 == state } ?? true)
      }
    }
  }
}

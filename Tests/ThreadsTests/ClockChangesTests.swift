import Foundation
import Testing

@testable import Threads

@Suite struct ClockChangesTests {
  @Test("the kernel ends the wait when the wall clock is set, and nothing else does")
  func armed() throws {
    let changes = ClockChanges.stream()
    let descriptor = ClockChanges.descriptor.withLock { $0 }
    // proc(5): the clock is CLOCK_REALTIME, the flags are TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET.
    let state = try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
    #expect(state.contains("clockid: 0\n") && state.contains("settime flags: 03\n"), "\(state)")
    withExtendedLifetime(changes) {}
  }
}

import Testing

@testable import transferd

@Suite struct BackoffTests {
  @Test("a wait grows with each failure, up to the longest one")
  func growth() {
    #expect((1...6).map { Backoff.seconds(afterFailure: $0, atMost: 20) } == [1, 2, 4, 8, 16, 20])
    #expect(Backoff.seconds(afterFailure: 3, factor: 3, atMost: 100) == 9)
    #expect(Backoff.seconds(afterFailure: 0, atMost: 20) == 1)
    #expect(Backoff.seconds(afterFailure: .max, atMost: 3600) == 3600)
  }
}

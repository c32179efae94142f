import FoundationEssentials
import Testing

@testable import TransferEngine

@Suite struct RetryPolicyTests {
  @Test("defaults are Alamofire's")
  func defaults() {
    let policy = RetryPolicy()
    #expect(policy.retryLimit == 2)
    #expect(policy.exponentialBackoffBase == 2)
    #expect(policy.exponentialBackoffScale == 0.5)
    #expect(policy.retryableHTTPMethods == [.delete, .get, .head, .options, .put, .trace])
  }

  @Test(
    "the maximum delay doubles with each attempt up to a limit",
    arguments: [(1, 1.0), (2, 2.0), (3, 4.0), (9, 256.0), (10, 300.0), (60, 300.0), (5000, 300.0)])
  func bound(attempt: Int, seconds: Double) {
    let policy = RetryPolicy(exponentialBackoffScale: 1)
    var generator = SystemRandomNumberGenerator()
    let delays = (0..<500).map { _ in
      policy.delay(forAttempt: attempt, retryAfter: nil, using: &generator).inSeconds
    }
    #expect(delays.allSatisfy { (0...seconds).contains($0) })
    // With full jitter the delays use the whole range. The probability that 500 delays miss a tenth of it is 10⁻²².
    #expect(delays.contains { $0 > seconds * 0.9 })
    #expect(delays.contains { $0 < seconds * 0.1 })
  }

  @Test("the delay is Retry-After plus a small random time, and Retry-After is limited to a day")
  func retryAfter() {
    let policy = RetryPolicy()
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      let delay = policy.delay(forAttempt: 1, retryAfter: .seconds(20), using: &generator)
      #expect((20.0...22.0).contains(delay.inSeconds))
      let long = policy.delay(forAttempt: 1, retryAfter: .seconds(10_000_000), using: &generator)
      #expect((86400.0...86410.0).contains(long.inSeconds))
    }
  }

  @Test("a Retry-After without a delay does not shorten the delays")
  func emptyRetryAfter() {
    let policy = RetryPolicy(exponentialBackoffScale: 1)
    var generator = SystemRandomNumberGenerator()
    let delays = (0..<500).map { _ in
      policy.delay(forAttempt: 4, retryAfter: .zero, using: &generator).inSeconds
    }
    #expect(delays.contains { $0 > 4 })
  }

  static let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

  @Test(
    "Retry-After is parsed in all its forms, and invalid values are ignored",
    arguments: [
      ("0", 0), ("120", 120), (" 120 ", 120), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
      ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
      ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("-5", nil), ("soon", nil), ("", nil), ("1.5", nil), ("12 34", nil),
      ("Sun, 99 Nov 1994 08:50:37 GMT", nil), ("99999999999999999999999", 31_622_400),
    ] as [(String, Double?)])
  func retryAfterForms(_ text: String, _ seconds: Double?) {
    #expect(RetryAfter.delay(from: text, now: Self.now)?.inSeconds == seconds)
  }

  @Test("transient and permanent statuses are told apart")
  func statuses() {
    for status in [408, 425, 429, 500, 502, 503, 504, 507, 520, 524] {
      #expect(RetryPolicy.isTransient(status: status))
    }
    for status in [200, 204, 300, 400, 401, 403, 404, 405, 410, 413, 416, 451, 501, 505] {
      #expect(!RetryPolicy.isTransient(status: status))
    }
  }
}

import Testing

@testable import TransferEngine

@Suite struct RequestStateTests {
  static let allowed: Set<[RequestState]> = [
    [.initialized, .resumed], [.initialized, .suspended], [.initialized, .cancelled],
    [.resumed, .suspended], [.resumed, .cancelled], [.resumed, .finished],
    [.suspended, .resumed], [.suspended, .cancelled], [.suspended, .finished],
  ]

  @Test("only the allowed state transitions are possible", arguments: RequestState.allCases, RequestState.allCases)
  func transitions(from: RequestState, to: RequestState) {
    #expect(from.canTransition(to: to) == Self.allowed.contains([from, to]))
  }
}

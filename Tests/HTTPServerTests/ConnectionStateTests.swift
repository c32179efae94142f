import Testing

@testable import HTTPServer

@Suite struct ConnectionStateTests {
  private func exchange(keepsAlive: Bool = true, isBodyComplete: Bool = true) -> ConnectionState {
    var state = ConnectionState()
    state.bytesArrived()
    state.headArrived(keepsAlive: keepsAlive)
    if isBodyComplete { _ = state.bodyEnded() }
    return state
  }

  @Test("the connection is read, and time runs, when it is the client's turn only")
  func turns() {
    var state = ConnectionState()
    #expect(state.wantsRead && state.timeout == .idle)
    state.bytesArrived()
    #expect(state.wantsRead && state.timeout == .head)
    state.headArrived(keepsAlive: true)
    #expect(!state.wantsRead && state.timeout == nil)
    state.bodyWanted()
    #expect(state.wantsRead && state.timeout == .body)
    state.bodyArrived()
    #expect(!state.wantsRead && state.timeout == nil)
    state.bodyWanted()
    let isFree = state.bodyEnded()
    #expect(!isFree && !state.wantsRead && state.timeout == nil)
    let next = state.responseEnded(hasMore: false)
    #expect(next == .request && state.timeout == .idle)
  }

  @Test("what follows a response")
  func responses() {
    var state = exchange(keepsAlive: false)
    var next = state.responseEnded(hasMore: true)
    #expect(next == .close)
    state = exchange(isBodyComplete: false)
    next = state.responseEnded(hasMore: false)
    #expect(next == .drain && state.wantsRead && state.timeout == .drain)
    let isFree = state.bodyEnded()
    #expect(isFree && state.phase == .idle)
    state = exchange(isBodyComplete: false)
    state.abandonBody()
    next = state.responseEnded(hasMore: false)
    #expect(next == .linger && state.timeout == .drain)
    for hasMore in [true, false] {
      state = exchange()
      let isClosing = state.inputEnded()
      next = state.responseEnded(hasMore: hasMore)
      #expect(!isClosing && next == (hasMore ? .request : .close))
    }
  }

  @Test("an error ends the body, waits for the response, or is the response")
  func failures() {
    var state = ConnectionState()
    var failure = state.failed(.unsupportedVersion)
    #expect(failure == .refuse && !state.wantsRead)
    state.refused()
    var next = state.responseEnded(hasMore: false)
    #expect(next == .linger)
    state = exchange(isBodyComplete: false)
    failure = state.failed(.bodyTimeout)
    next = state.responseEnded(hasMore: false)
    #expect(failure == .failBody && next == .linger)
    state = exchange()
    failure = state.failed(.headTimeout)
    let second = state.failed(.bodyCutOff)
    next = state.responseEnded(hasMore: true)
    #expect(failure == .wait && second == .wait && next == .refuse(.headTimeout))
    state = exchange(isBodyComplete: false)
    next = state.responseEnded(hasMore: false)
    failure = state.failed(.bodyCutOff)
    #expect(next == .drain && failure == .close)
  }
}

/// What a connection is doing, without I/O: events change it, and what to do next follows from it.
///
/// One request is answered at a time. Bytes of the next one are held until the response is complete.
struct ConnectionState: Equatable {
  enum Phase: Equatable {
    /// Between requests; no byte of the next one has arrived.
    case idle
    /// A part of a request's head has arrived.
    case head
    /// A request is being answered.
    case exchange
    /// A request was answered before its body was complete; the rest is discarded.
    case draining
    /// The last response was written; input is discarded until the client closes, so that it can read the response.
    case lingering
    case closed
  }

  enum Timeout: Equatable {
    case idle, head, body, drain
  }

  /// What follows from an error in the input.
  enum Failure: Equatable {
    /// Send the error as the response, then close.
    case refuse
    /// The body of the current request ends with the error.
    case failBody
    /// Close without a response.
    case close
    /// The error is handled when the current response is complete.
    case wait
  }

  /// What follows a complete response.
  enum Next: Equatable {
    case request
    case drain
    case refuse(RequestError)
    case linger
    case close
  }

  private(set) var phase = Phase.idle
  private(set) var isBodyComplete = true
  private(set) var isBodyWanted = false
  private(set) var isInputClosed = false
  private(set) var keepsAlive = true
  private(set) var failure: RequestError?

  /// Whether more should be read from the connection.
  var wantsRead: Bool {
    guard !isInputClosed else { return false }
    return switch phase {
    case .idle, .head: failure == nil
    case .draining, .lingering: true
    case .exchange: isBodyWanted && !isBodyComplete
    case .closed: false
    }
  }

  /// What the connection waits for, if it is the client's turn; `nil` if it is not.
  var timeout: Timeout? {
    switch phase {
    case .idle: .idle
    case .head: .head
    case .exchange: wantsRead ? .body : nil
    case .draining, .lingering: .drain
    case .closed: nil
    }
  }

  /// Bytes have arrived that belong to a head.
  mutating func bytesArrived() { if phase == .idle { phase = .head } }

  mutating func headArrived(keepsAlive: Bool) {
    phase = .exchange
    self.keepsAlive = keepsAlive
    isBodyComplete = false
    isBodyWanted = false
  }

  mutating func bodyWanted() { if phase == .exchange { isBodyWanted = true } }

  /// A piece of the body has arrived: nothing more is read until it was taken.
  mutating func bodyArrived() { isBodyWanted = false }

  /// - Returns: whether the connection is free for the next request.
  mutating func bodyEnded() -> Bool {
    isBodyComplete = true
    guard phase == .draining else { return false }
    phase = .idle
    return true
  }

  /// The input cannot be used any further.
  mutating func failed(_ error: RequestError) -> Failure {
    guard failure == nil else { return .wait }
    failure = error
    switch phase {
    case .idle, .head: return .refuse
    case .exchange:
      guard !isBodyComplete else { return .wait }
      keepsAlive = false
      return .failBody
    case .draining: return .close
    case .lingering, .closed: return .wait
    }
  }

  /// The client will send no more.
  /// - Returns: whether the connection is to be closed.
  mutating func inputEnded() -> Bool {
    isInputClosed = true
    switch phase {
    case .idle, .head, .draining, .lingering: return true
    case .exchange, .closed: return false
    }
  }

  /// The response begins before the body is complete, and the rest is too long to be discarded for the next request.
  mutating func abandonBody() { keepsAlive = false }

  /// - Parameter hasMore: whether bytes of the next request have arrived.
  mutating func responseEnded(hasMore: Bool) -> Next {
    if let failure, isBodyComplete, keepsAlive { return .refuse(failure) }
    if keepsAlive, failure == nil, isBodyComplete, !isInputClosed || hasMore {
      phase = .idle
      return .request
    }
    if isInputClosed || !keepsAlive && isBodyComplete && failure == nil {
      phase = .closed
      return .close
    }
    phase = keepsAlive && failure == nil ? .draining : .lingering
    return phase == .draining ? .drain : .linger
  }

  /// The last response of the connection is being written, without a request of its own.
  mutating func refused() {
    phase = .exchange
    isBodyComplete = true
    keepsAlive = false
  }

  mutating func closed() { phase = .closed }
}

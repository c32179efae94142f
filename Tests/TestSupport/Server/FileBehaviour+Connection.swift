import Foundation

/// Faults of the connection during a response. Offsets count this response's body bytes.
extension FileBehaviour {
  /// The way in which a connection ends early.
  public enum Break: Sendable {
    /// An orderly FIN.
    case close
    /// RST.
    case reset

    var step: Script.Step {
      switch self {
      case .close: .close
      case .reset: .reset
      }
    }
  }

  /// Runs steps after this many bytes of the body.
  public func interrupting(
    after bytes: Int64, on when: When = .always, with steps: Script.Step...
  ) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.interruptions.append((after: bytes, steps: steps)) }
  }

  /// Drops the connection after this many bytes of the body, by default only at the first GET.
  public func dropping(after bytes: Int64, on when: When = .first(1), by end: Break = .close) -> FileBehaviour {
    interrupting(after: bytes, on: when, with: end.step)
  }

  /// Drops the connection instead of a response.
  public func hangingUp(on when: When = .first(1), by end: Break = .reset) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.instead = [end.step] }
  }

  /// Drops a kept connection silently when it is reused; a new connection is served.
  public func closingReusedConnections(by end: Break = .close, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, request in
      if request.indexOnConnection > 0 { answer.instead = [end.step] }
    }
  }

  /// Stalls after this many bytes of the body until the client disconnects or `LoopbackServer.release()` is called.
  public func stalling(after bytes: Int64, on when: When = .first(1)) -> FileBehaviour {
    interrupting(after: bytes, on: when, with: .stall)
  }

  /// Stalls before the status line.
  public func stallingBeforeAnswer(on when: When = .first(1)) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.prelude.append(.stall) }
  }

  /// Pauses after this many bytes, opens `reached`, and continues when `proceed` opens: a test can act in between.
  public func holding(
    after bytes: Int64, reached: Gate = Gate(), until proceed: Gate, on when: When = .first(1)
  ) -> FileBehaviour {
    interrupting(after: bytes, on: when, with: .signal(reached), .waitFor(proceed))
  }

  /// Sends the body, from an offset on, no faster than this.
  public func dripping(
    bytesPerSecond: Int, after bytes: Int64 = 0, on when: When = .always
  ) -> FileBehaviour {
    interrupting(after: bytes, on: when, with: .drip(bytesPerSecond: bytesPerSecond))
  }

  /// Sends `Connection: close` and closes the connection.
  public func closingConnections(on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.headers["Connection"] = "close"
      answer.trailer.append(.close)
    }
  }
}

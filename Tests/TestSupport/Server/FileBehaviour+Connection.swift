import Foundation

/// What happens to the connection while an answer is on its way. Offsets count this response's body bytes.
extension FileBehaviour {
  /// How a connection ends before its time.
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

  /// Acts out steps after so many bytes of body.
  public func interrupting(
    after bytes: Int64, on when: When = .always, with steps: Script.Step...
  ) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.interruptions.append((after: bytes, steps: steps)) }
  }

  /// Drops the connection after so many bytes of body, by default of the first GET alone.
  public func dropping(after bytes: Int64, on when: When = .first(1), by end: Break = .close) -> FileBehaviour {
    interrupting(after: bytes, on: when, with: end.step)
  }

  /// Drops the connection in place of an answer.
  public func hangingUp(on when: When = .first(1), by end: Break = .reset) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.instead = [end.step] }
  }

  /// Drops a kept connection when it is used again, without a word; a new connection is served.
  public func closingReusedConnections(by end: Break = .close, on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, request in
      if request.indexOnConnection > 0 { answer.instead = [end.step] }
    }
  }

  /// Falls silent after so many bytes of body, until the client goes or `LoopbackServer.release()`.
  public func stalling(after bytes: Int64, on when: When = .first(1)) -> FileBehaviour {
    interrupting(after: bytes, on: when, with: .stall)
  }

  /// Falls silent before the status line.
  public func stallingBeforeAnswer(on when: When = .first(1)) -> FileBehaviour {
    answering(on: when) { answer, _ in answer.prelude.append(.stall) }
  }

  /// Stops after so many bytes, opens `reached`, and goes on when `proceed` opens: a test can act in between.
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

  /// Says `Connection: close` and does so.
  public func closingConnections(on when: When = .always) -> FileBehaviour {
    answering(on: when) { answer, _ in
      answer.headers["Connection"] = "close"
      answer.trailer.append(.close)
    }
  }
}

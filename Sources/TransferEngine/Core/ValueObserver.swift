import Dispatch

/// Receives the values of one kind that a request produces: its progress, the requests it sends, the responses it gets.
enum ValueObserver<Value: Sendable>: Sendable {
  /// Called on the queue; `nil` calls it where the value was produced, so it must return quickly.
  case closure(@Sendable (Value) -> Void, queue: DispatchQueue?)
  case stream(AsyncStream<Value>.Continuation)

  func send(_ value: Value) {
    switch self {
    case .closure(let closure, nil): closure(value)
    case .closure(let closure, let queue?): queue.async { closure(value) }
    case .stream(let continuation): continuation.yield(value)
    }
  }

  /// No value follows.
  func finish() {
    if case .stream(let continuation) = self { continuation.finish() }
  }
}

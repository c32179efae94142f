import Dispatch
import Foundation
import Synchronization

/// A locked value whose changes can be awaited, so that no test needs to sleep and poll.
///
/// Conditions are checked after each change. Every wait has a limit; when it expires, the wait throws
/// `TestSupportError.timedOut` with the name of the awaited condition.
public final class Watched<State: Sendable>: Sendable {
  /// Checks a state under the lock and returns whether its wait is over.
  private typealias Observer = @Sendable (State) -> Bool

  private struct Contents {
    var state: State
    var observers: [Int: Observer] = [:]
    var nextObserver = 0
  }

  private let contents: Mutex<Contents>

  public init(_ state: State) {
    contents = Mutex(Contents(state: state))
  }

  /// The state at this instant.
  public var value: State {
    contents.withLock { $0.state }
  }

  /// Changes the state, then wakes every waiter whose condition now holds.
  @discardableResult
  public func mutate<Result: Sendable>(_ change: @Sendable (inout State) -> Result) -> Result {
    contents.withLock { contents in
      let result = change(&contents.state)
      for (id, observer) in contents.observers where observer(contents.state) {
        contents.observers[id] = nil
      }
      return result
    }
  }

  /// Suspends until `condition` gives a value, and returns it.
  ///
  /// Throws `TestSupportError.timedOut` after `timeout`, or `CancellationError` when the task is cancelled.
  public func wait<Value: Sendable>(
    for what: String, timeout: Duration = .seconds(120),
    until condition: @escaping @Sendable (State) -> Value?
  ) async throws -> Value {
    let waiter = OneShot<Value>()
    let id = observe { state in
      guard let value = condition(state) else { return false }
      waiter.finish(.success(value))
      return true
    }
    let timer = DispatchWorkItem { waiter.finish(.failure(TestSupportError.timedOut(what, after: timeout))) }
    DispatchQueue.global().asyncAfter(deadline: .now() + timeout.inSeconds, execute: timer)
    defer {
      timer.cancel()
      forget(id)
    }
    return try await withTaskCancellationHandler {
      try await waiter.value()
    } onCancel: {
      waiter.finish(.failure(CancellationError()))
    }
  }

  /// Calls `observer` under the lock, now and after each change, until it returns `true` or is removed.
  func observe(_ observer: @escaping @Sendable (State) -> Bool) -> Int {
    contents.withLock { contents in
      let id = contents.nextObserver
      contents.nextObserver += 1
      if !observer(contents.state) { contents.observers[id] = observer }
      return id
    }
  }

  func forget(_ id: Int) {
    contents.withLock { $0.observers[id] = nil }
  }
}

/// A gate that is closed at first and opens once. Tests await it; threads of servers block on it.
public final class Gate: Sendable {
  let opened = Watched(false)

  public init() {}

  public var isOpen: Bool { opened.value }

  /// Opens the gate for ever. Opening it twice is harmless.
  public func open() {
    opened.mutate { $0 = true }
  }

  /// Suspends until the gate is open.
  public func wait(timeout: Duration = .seconds(120)) async throws {
    try await opened.wait(for: "a gate to open", timeout: timeout) { $0 ? () : nil }
  }
}

/// A result that is set once and awaited once; the first result wins.
private final class OneShot<Value: Sendable>: Sendable {
  private enum Stage {
    case pending
    case awaited(CheckedContinuation<Value, any Error>)
    case finished(Result<Value, any Error>)
    case taken
  }

  private let stage = Mutex(Stage.pending)

  func finish(_ result: Result<Value, any Error>) {
    let continuation: CheckedContinuation<Value, any Error>? = stage.withLock { stage in
      switch stage {
      case .pending:
        stage = .finished(result)
        return nil
      case .awaited(let continuation):
        stage = .taken
        return continuation
      case .finished, .taken:
        return nil
      }
    }
    continuation?.resume(with: result)
  }

  func value() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let result: Result<Value, any Error>? = stage.withLock { stage in
        if case .finished(let result) = stage {
          stage = .taken
          return result
        }
        stage = .awaited(continuation)
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }
}

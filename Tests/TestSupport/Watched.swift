import Dispatch
import Foundation
import Synchronization

/// A value behind a lock whose changes can be awaited, so that no test needs to sleep and look again.
///
/// A waiter is asked after each change and leaves once its condition holds. Every wait has a bound; one that
/// runs out throws `TestSupportError.timedOut`, naming what was awaited.
public final class Watched<State: Sendable>: Sendable {
  /// Looks at a state and answers whether it is done; called under the lock.
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

  /// Calls `observer` now and after each change, under the lock, until it answers true or is forgotten.
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

/// A door that starts closed and opens once. Tests await it; threads of the servers block on it.
public final class Gate: Sendable {
  let opened = Watched(false)

  public init() {}

  public var isOpen: Bool { opened.value }

  /// Lets everybody through, now and later. Opening twice is harmless.
  public func open() {
    opened.mutate { $0 = true }
  }

  /// Suspends until the gate is open.
  public func wait(timeout: Duration = .seconds(120)) async throws {
    try await opened.wait(for: "a gate to open", timeout: timeout) { $0 ? () : nil }
  }
}

/// A result given once and awaited once; the first to finish wins.
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

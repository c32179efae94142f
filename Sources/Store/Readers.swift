import GRDB
import Synchronization
import Threads

/// The connections for reading, each used by one thread at a time. One other connection writes.
///
/// GRDB's own pool is not used: if two threads use one of its queues at the same time, libdispatch starts threads and a
/// timer (``GlobalExecutor``).
final class Readers: Sendable {
  private struct State {
    var free: [DatabaseQueue] = []
    var isClosed = false
  }

  /// Maximum number of concurrent reads.
  static let maximum = 4

  private let path: String
  private let threads = BlockingThreadPool("store-reader", maximum: maximum)
  private let state = Mutex(State())

  /// Opens the first one; the others are opened when they are needed.
  init(path: String) throws {
    self.path = path
    give(try take())
  }

  /// Reads one consistent state: what was committed before, and nothing that is committed meanwhile.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    let result: Result<Value, StoreError> = await threads.run { [self] in
      do {
        let connection = try take()
        defer { give(connection) }
        return .success(try connection.read(body))
      } catch {
        return .failure(StoreError(error, path: path))
      }
    }
    return try result.get()
  }

  /// Empties the caches of unused connections. Does not wait for that.
  func releaseMemory() {
    threads.start { [self] in
      let idle = state.withLock { state in
        defer { state.free = [] }
        return state.free
      }
      for connection in idle {
        connection.releaseMemory()
        give(connection)
      }
    }
  }

  /// Closes unused connections now, and the others when they become unused.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.free = [] }
      return state.free
    }
    for connection in idle { try? connection.close() }
  }

  private func take() throws -> DatabaseQueue {
    if let connection = state.withLock({ $0.free.popLast() }) { return connection }
    var configuration = DatabaseFile.configuration
    configuration.readonly = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  private func give(_ connection: DatabaseQueue) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.free.append(connection) }
      return state.isClosed
    }
    if isClosed { try? connection.close() }
  }
}

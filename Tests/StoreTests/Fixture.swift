import Foundation
import GRDB
import Synchronization
import Testing
import TransferAPI

@testable import Store

/// A store in its own temporary directory, and the events it has published.
final class Fixture: Sendable {
  let directory: String
  let store: Store
  private let log: EventLog

  /// The daemon's uid, which is also the default owner of jobs.
  static let owner = geteuid()

  /// A time in whole seconds, so that it is unchanged by the database.
  static let epoch = Date(timeIntervalSince1970: 1_800_000_000)

  convenience init() throws { try self.init(directory: Self.temporaryDirectory()) }

  init(directory: String) throws {
    self.directory = directory
    let log = EventLog()
    self.log = log
    store = try Store(directory: directory, now: Self.epoch) { events in log.append(events) }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  /// The events of each call of `onEvents`.
  var groups: [[Event]] { log.groups }
  var events: [Event] { log.groups.flatMap(\.self) }
  var file: String { directory + "/transferd.db" }

  /// How SQLite executes a statement.
  func plan(of sql: String) async throws -> [String] {
    try await store.read { db in
      let names = Set(sql.matches(of: /:([a-z_]+)/).map { String($0.1) })
      let values: [String: (any DatabaseValueConvertible)?] = Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })
      return try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: StatementArguments(values))
        .map { $0["detail"] as String }
    }
  }

  static func temporaryDirectory() -> String {
    let path = NSTemporaryDirectory() + "transferd-store-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  static func at(_ seconds: Double) -> Date { epoch.addingTimeInterval(seconds) }

  /// A download; `n` makes it unique.
  static func spec(_ n: Int, origin: String = "https://example.org:443") -> JobSpec {
    JobSpec(owner: owner, url: "https://example.org/\(n)", origin: origin, destination: "/downloads/\(n)")
  }

  @discardableResult
  func add(_ spec: JobSpec) async throws -> JobID {
    try await store.submit([spec], at: Self.epoch)[0].get().id
  }

  /// Performs three operations in one group: two add a job each, and the one between them is refused after `body`.
  func refuseSecond(_ body: @escaping @Sendable (inout Transaction) throws -> Void) async {
    struct Refusal: Error {}
    let store = store
    let gate = DispatchSemaphore(value: 0)
    store.pool.asyncWriteWithoutTransaction { _ in gate.wait() }
    async let first = store.submit([Fixture.spec(1)], at: Fixture.epoch)
    while store.queue.waitingCount < 1 { await Task.yield() }
    async let second: Result<Void, any Error> = {
      do {
        try await store.queue.run { transaction in
          try body(&transaction)
          throw Refusal()
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }()
    while store.queue.waitingCount < 2 { await Task.yield() }
    async let third = store.submit([Fixture.spec(3)], at: Fixture.epoch)
    while store.queue.waitingCount < 3 { await Task.yield() }
    gate.signal()
    #expect(await first[0].failure == nil)
    #expect(await second.failure != nil)
    #expect(await third[0].failure == nil)
  }

  func claim(_ id: JobID, at seconds: Double = 1) async throws -> JobRecord {
    let claimed = try await store.claim([id], at: Self.at(seconds))
    guard let record = claimed.first else { throw StoreError.notFound(id) }
    return record
  }

  func record(_ id: JobID) async throws -> JobRecord {
    guard let record = try await store.job(id) else { throw StoreError.notFound(id) }
    return record
  }

  /// Ends the running attempt of `record`.
  @discardableResult
  func settle(
    _ record: JobRecord, _ event: JobEvent, at seconds: Double = 2,
    with change: (inout Settlement) -> Void = { _ in }
  ) async throws -> Bool {
    var settlement = Settlement(
      id: record.job.id, fence: record.fence, event: event, bytesDone: 10, bytesTotal: 100)
    change(&settlement)
    return try await store.settle(settlement, at: Self.at(seconds))
  }

  /// A new job, brought into `state` by requests and attempts.
  func job(_ n: Int, in state: JobState, batch: String? = nil) async throws -> JobID {
    var spec = Self.spec(n)
    spec.batch = batch
    let id = try await add(spec)
    switch state {
    case .queued: break
    case .running: _ = try await claim(id)
    case .retrying:
      try await settle(claim(id), .postpone) { settlement in
        settlement.failure = Self.failure
        settlement.retryDelay = .seconds(60)
      }
    case .paused: _ = try await store.transition([id], .pause, at: Self.at(1))[0].get()
    case .completed: try await settle(claim(id), .complete)
    case .failed: try await settle(claim(id), .fail) { $0.failure = Self.failure }
    case .cancelled: _ = try await store.transition([id], .cancel, at: Self.at(1))[0].get()
    }
    return id
  }

  static let failure = JobFailure(code: .http(503), message: "busy", httpStatus: 503, transient: true)

  /// Counts the rows of all jobs and of each batch.
  func countedByHand() async throws -> [String: StateCounts] {
    try await store.read { db in
      var counts: [String: StateCounts] = ["": StateCounts()]
      for row in try Row.fetchAll(db, sql: "SELECT batch, state FROM job") {
        let state = JobState(rawValue: row["state"])!
        counts["", default: StateCounts()][state] += 1
        if let batch: String = row["batch"] { counts[batch, default: StateCounts()][state] += 1 }
      }
      return counts
    }
  }
}

private final class EventLog: Sendable {
  private let log = Mutex<[[Event]]>([])
  var groups: [[Event]] { log.withLock { $0 } }
  func append(_ events: [Event]) { log.withLock { $0.append(events) } }
}

/// Counts the commits of the writing connection that changed something.
final class CommitCounter: TransactionObserver, Sendable {
  private let commits = Mutex(0)
  var count: Int { commits.withLock { $0 } }
  func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
  func databaseDidChange(with event: DatabaseEvent) {}
  func databaseDidCommit(_ db: Database) { commits.withLock { $0 += 1 } }
  func databaseDidRollback(_ db: Database) {}
}

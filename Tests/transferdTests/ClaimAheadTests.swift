import Foundation
import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct ClaimAheadTests {
  private static let start = Date(timeIntervalSince1970: 1_000_000)

  /// Small files of one origin that arrive at a speed.
  private struct Arrivals {
    var widths = OriginWidths()
    var now = start

    mutating func receive(_ count: Int, speed: Double) {
      for _ in 0..<count {
        now += 1 / speed
        widths.recordFile(of: "a", isLarge: false, now: now)
      }
    }

    var claims: Int { widths.claims(of: "a") }
    var connections: Int? { widths.connections(of: "a") }
  }

  /// An origin with jobs that are claimed in advance.
  private static func fast(_ lane: TransferLane = .downloads) -> Arrivals {
    var arrivals = Arrivals()
    arrivals.widths.recordStart(of: "a", in: lane)
    arrivals.receive(100, speed: 2000)
    return arrivals
  }

  @Test(
    "jobs of an origin with thousands of small files a second are claimed in advance, those of a slower one are not")
  func speed() {
    var arrivals = Arrivals()
    arrivals.widths.recordStart(of: "a", in: .downloads)
    arrivals.receive(5, speed: 500)
    #expect(arrivals.claims == 8 && arrivals.connections == nil && arrivals.widths.takeChanged().isEmpty)
    arrivals.receive(60, speed: 2000)
    #expect(arrivals.claims == 128 && arrivals.connections == 8)
    #expect(arrivals.widths.takeChanged() == ["a"] && arrivals.widths.takeChanged().isEmpty)
    arrivals.receive(1, speed: 0.5)
    #expect(arrivals.claims == arrivals.widths.limit(of: "a"))
    // Those that wait still wait for a connection.
    #expect(arrivals.connections == arrivals.widths.limit(of: "a"))
  }

  @Test("a wider trial lets more of the claimed jobs transfer")
  func width() {
    var arrivals = Self.fast()
    _ = arrivals.widths.takeChanged()
    arrivals.receive(20, speed: 2000)
    #expect(arrivals.connections == 16 && arrivals.widths.takeChanged() == ["a"])
  }

  @Test("transfers that do not wait for each other's connections end it")
  func lanes() {
    #expect(Self.fast(.uploads).claims == 128)
    #expect(Self.fast(.alone).claims == 8)
    var arrivals = Self.fast()
    arrivals.widths.recordStart(of: "a", in: .downloads)
    #expect(arrivals.claims == 128)
    arrivals.widths.recordStart(of: "a", in: .uploads)
    #expect(arrivals.claims == 8)
  }

  @Test("a refusal, a large file and a transfer of one end it at once")
  func stops() {
    for stop: @Sendable (inout OriginWidths, Date) -> Void in [
      { $0.recordRefusal(by: "a", now: $1) }, { $0.recordFile(of: "a", isLarge: true, now: $1) },
      { widths, _ in widths.startLargeFile(of: "a") },
    ] {
      var arrivals = Self.fast()
      stop(&arrivals.widths, arrivals.now)
      #expect(arrivals.claims <= 8)
      #expect(arrivals.connections.map { $0 <= 8 } == true, "those that wait must not begin all at once")
    }
  }

  @Test("a clock that is set back does not stop the measurement")
  func clockSetBack() {
    var arrivals = Arrivals()
    arrivals.widths.recordStart(of: "a", in: .downloads)
    arrivals.receive(10, speed: 2000)
    arrivals.now -= 86_400
    arrivals.receive(100, speed: 2000)
    #expect(arrivals.claims == 128)
  }

  @Test("an origin that is forgotten gives its limit of connections back")
  func pruning() {
    var arrivals = Self.fast()
    _ = arrivals.widths.takeChanged()
    for number in 0...OriginWidths.capacity { arrivals.widths.recordRefusal(by: "\(number)", now: arrivals.now) }
    arrivals.widths.prune { $0 != "a" }
    #expect(arrivals.widths.takeChanged() == ["a"] && arrivals.connections == nil)
  }

  // MARK: In the queue

  /// A queue that always has candidates, and what runs in it.
  private struct Run {
    var queue: JobQueue
    var now = start
    var running: [JobID: String] = [:]
    /// In the order of their claims.
    private var waiting: [String: [JobID]] = [:]
    private(set) var connected: [String: [JobID]] = [:]
    var limits: [String: Int] = [:]
    private var next: Int64 = 0
    let origins: [String]

    init(maxActive: Int, maxPerOrigin: PerOriginLimit = .automatic, _ origins: String...) {
      queue = JobQueue(
        limits: .init(admission: Admission(maxActive: maxActive, maxPerOrigin: maxPerOrigin)),
        governor: OriginGovernor(now: start))
      self.origins = origins
      send(.jobsChanged)
    }

    mutating func send(_ event: JobQueueEvent) {
      var actions = queue.handle(event, now: now)
      while !actions.isEmpty {
        switch actions.removeFirst() {
        case .search(let search):
          let found = origins.filter { !search.excludedOrigins.contains($0) }.flatMap { origin in
            (0..<200).map { _ in
              next += 1
              return Candidate(id: JobID(next), origin: origin, priority: 0)
            }
          }
          origin(of: found)
          actions += queue.handle(.found(found, search, wakeTime: nil), now: now)
        case .turn(let ended, let claimed):
          var turn = JobQueueEvent.Turn()
          turn.ended = ended.map { .init(job: $0, origin: known[$0]!) }
          turn.claimed = claimed.map { .init(job: $0, origin: known[$0]!, fence: 1) }
          for id in claimed {
            running[id] = known[id]
            waiting[known[id]!, default: []].append(id)
            queue.recordStart(of: known[id]!, in: .downloads)
          }
          actions += queue.handle(.turned(turn), now: now)
        case .limitConnections(let origin, let maximum): limits[origin] = maximum
        default: break
        }
      }
      for (origin, ids) in waiting {
        let free = (limits[origin] ?? .max) - connected[origin, default: []].count
        let next = ids.prefix(max(0, free))
        connected[origin, default: []] += next
        waiting[origin] = Array(ids.dropFirst(next.count))
      }
    }

    private var known: [JobID: String] = [:]
    private mutating func origin(of candidates: [Candidate]) { for one in candidates { known[one.id] = one.origin } }

    /// Transfers of the origin end.
    mutating func arrive(_ origin: String, atMost count: Int = .max) {
      now += 0.004
      let arrived = Array(connected[origin, default: []].prefix(count))
      connected[origin]?.removeFirst(arrived.count)
      for id in arrived { running[id] = nil }
      send(.transferred(arrived.map { .init(job: $0, fence: 1, isLarge: false) }))
      send(.ended(arrived))
    }

    /// The number of jobs that transfer now.
    var transfers: Int { connected.values.reduce(0) { $0 + $1.count } }
  }

  @Test("a fast origin gets 128 claims and 32 connections, and leaves slots for another one")
  func claimsAhead() {
    var run = Run(maxActive: 64, "a")
    for _ in 0..<100 { run.arrive("a") }
    #expect(run.running.count == 128 && run.limits["a"] == 32 && run.transfers == 32)
    #expect(run.queue.load.total == 32 && run.queue.load.claimed == 128)
    run.queue.recordRefusal(by: "a", now: run.now)
    run.send(.foundResumable(JobID(0), fence: 0))
    // Those that run go on, and use their slots until they end.
    #expect(run.limits["a"] == 16 && run.transfers == 32 && run.queue.load.total == 32)
    run.arrive("a", atMost: 10)
    #expect(run.transfers == 22 && run.queue.load.total == 22)
    run.arrive("a", atMost: 10)
    #expect(run.transfers == 16 && run.queue.load.total == 16)
  }

  @Test("transfers never exceed maxActive, whatever widths and claims do", arguments: [1, 8, 20, 33, 64, 100])
  func bounded(_ maxActive: Int) {
    var run = Run(maxActive: maxActive, "a", "b", "c")
    for step in 0..<300 {
      run.arrive(["a", "b", "c"][step % 7 % 3], atMost: step % 50 > 44 ? 3 : .max)
      #expect(run.transfers <= run.queue.load.total && run.queue.load.total <= maxActive, "step \(step)")
      if step % 50 == 49 { run.queue.recordRefusal(by: "b", now: run.now) }
    }
  }

  @Test("a fixed limit that is set while jobs are claimed in advance bounds their connections")
  func fixed() {
    var run = Run(maxActive: 64, "a")
    for _ in 0..<100 { run.arrive("a") }
    var limits = run.queue.limits
    limits.admission.maxPerOrigin = .fixed(5)
    run.send(.limitsChanged(limits))
    #expect(run.limits["a"] == 5 && run.transfers == 32)
    run.arrive("a", atMost: 30)
    #expect(run.transfers == 5)
    for _ in 0..<40 { run.arrive("a") }
    #expect(run.running.count == 5)
  }
}

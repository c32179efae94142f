import HTTPTypes
import Testing

@testable import TransferEngine

/// The parts of groups that are pure values.
@Suite struct GroupValueTests {
  @Test("a queue is first in, first out for each origin, takes the origins in turn, and keeps the limit")
  func queue() {
    var queue = GroupQueue<String>(limit: 2)
    for name in ["a1", "a2", "a3", "b1", "c1", "b2"] { queue.append(name, origin: String(name.prefix(1))) }
    var taken: [String] = []
    while let next = queue.next() { taken.append(next) }
    #expect(taken == ["a1", "b1", "c1", "a2", "b2"])
    #expect(queue.waitingCount == 1 && queue.activeCount == 5)
    queue.end(origin: "b")
    #expect(queue.next() == nil)
    queue.end(origin: "a")
    #expect(queue.next() == "a3")
    #expect(queue.waitingCount == 0)
    for origin in ["a", "a", "b", "c"] { queue.end(origin: origin) }
    #expect(queue.activeCount == 0)
  }

  @Test("an origin's own limit takes effect at once, and stays while the origin has no elements")
  func ownLimit() {
    var queue = GroupQueue<Int>(limit: 10)
    queue.setLimit(2, origin: "a")
    for number in 0..<6 { queue.append(number, origin: "a") }
    #expect([queue.next(), queue.next(), queue.next()] == [0, 1, nil])
    queue.setLimit(3, origin: "a")
    #expect([queue.next(), queue.next()] == [2, nil])
    queue.setLimit(1, origin: "a")
    queue.end(origin: "a")
    queue.end(origin: "a")
    #expect(queue.next() == nil)
    queue.end(origin: "a")
    #expect([queue.next(), queue.next()] == [3, nil])
    for _ in 0..<3 {
      queue.end(origin: "a")
      _ = queue.next()
    }
    #expect(queue.activeCount == 0 && queue.waitingCount == 0)
    for number in 6..<8 { queue.append(number, origin: "a") }
    #expect([queue.next(), queue.next()] == [6, nil])
    queue.setLimit(nil, origin: "a")
    #expect(queue.next() == 7)
  }

  @Test("random appends and ends lose nothing, repeat nothing and never exceed the limit", arguments: 0..<20)
  func randomQueue(_ round: Int) {
    var generator = SystemRandomNumberGenerator()
    var queue = GroupQueue<Int>(limit: Int.random(in: 1...5, using: &generator))
    var (taken, active): ([Int], [Int: Int]) = ([], [:])
    var added = 0
    while taken.count < 1000 {
      if added < 1000, Bool.random(using: &generator) {
        queue.append(added, origin: "\(added % 7)")
        added += 1
      } else if let next = queue.next() {
        taken.append(next)
        active[next % 7, default: 0] += 1
        #expect(active[next % 7]! <= queue.limit)
      } else if let origin = active.filter({ $0.value > 0 }).keys.randomElement(using: &generator) {
        active[origin]! -= 1
        queue.end(origin: "\(origin)")
      }
    }
    #expect(taken.sorted() == Array(0..<1000))
    for origin in 0..<7 { #expect(taken.filter { $0 % 7 == origin } == Array(stride(from: origin, to: 1000, by: 7))) }
  }

  @Test(
    "the response head decides whether a download stays in the group",
    arguments: [
      (200, ["Content-Length": "10"], GroupDecision.keep(length: 10)), (203, ["Content-Length": "0"], .keep(length: 0)),
      (200, ["Content-Length": "1048576"], .keep(length: 1 << 20)), (200, ["Content-Length": "1048577"], .leave),
      (200, [:], .leave), (200, ["Content-Length": "1", "Transfer-Encoding": "chunked"], .leave),
      (200, ["Content-Length": "x"], .leave), (200, ["Content-Length": "1, 2"], .leave),
      (200, ["Content-Length": "1, 1"], .keep(length: 1)),
      (200, ["Content-Length": "1", "Content-Encoding": "gzip"], .leave),
      (200, ["Content-Length": "1", "Content-Encoding": "identity"], .keep(length: 1)),
      (201, ["Content-Length": "1"], .leave), (204, [:], .leave), (206, ["Content-Length": "1"], .leave),
      (301, ["Content-Length": "1"], .leave), (404, ["Content-Length": "1"], .leave),
    ])
  func decision(_ status: Int, _ fields: [String: String], _ decision: GroupDecision) {
    var headers = HTTPFields()
    for (name, value) in fields { headers[HTTPField.Name(name)!] = value }
    let head = ResponseHead(status: status, headers: headers)
    #expect(GroupDecision(head: head, acceptable: nil, limit: 1 << 20) == decision)
    #expect(GroupDecision(head: head, acceptable: [status], limit: 1 << 20) == decision)
    #expect(GroupDecision(head: head, acceptable: [299], limit: 1 << 20) == .leave)
  }

  @Test(
    "syncfs is used only for large groups, if it reports errors and few other bytes are unwritten",
    arguments: [
      (31, true, 0, SyncMethod.eachFile), (32, true, 0, .fileSystem), (256, true, 64 << 20, .fileSystem),
      (256, true, (64 << 20) + 1001, .eachFile), (256, false, 0, .eachFile), (256, true, nil, .eachFile),
    ] as [(Int, Bool, Int64?, SyncMethod)])
  func method(_ files: Int, _ isSupported: Bool, _ unwritten: Int64?, _ method: SyncMethod) {
    #expect(SyncMethod(files: files, bytes: 1000, isSupported: isSupported, unwritten: unwritten) == method)
  }

  @Test("unwritten memory is the sum of the lines Dirty and Writeback")
  func unwritten() {
    #expect(
      UnwrittenMemory.bytes(in: "MemTotal: 1 kB\nDirty:   12 kB\nWriteback:    3 kB\nWritebackTmp: 9 kB\n") == 15_360)
    #expect(UnwrittenMemory.bytes(in: "Dirty: 12 kB\n") == nil)
    #expect(UnwrittenMemory.bytes(in: "Dirty: -1 kB\nWriteback: 3 kB\n") == nil)
    #expect(UnwrittenMemory.bytes(in: "Dirty: 9223372036854775807 kB\nWriteback: 3 kB\n") == nil)
    #expect(UnwrittenMemory.bytes ?? -1 >= 0)
  }

  @Test(
    "syncfs reports errors since Linux 5.8",
    arguments: [
      ("5.8.0", true), ("5.7.19", false), ("5.10.0-31-amd64", true), ("6.1", true), ("4.19.0", false), ("", false),
      ("x", false), ("99999999999999999999.1", false),
    ])
  func release(_ release: String, _ isReporting: Bool) {
    #expect(FileSystemSync.isReportingErrors(release: release) == isReporting)
  }

  @Test("requests are prepared in order while few are waiting, and a hanging preparation does not stop the others")
  func preparation() {
    var queue = PreparationQueue<Int>()
    #expect(queue.take(waiting: 0, limit: 4).isEmpty)
    queue.append(Array(0..<30))
    #expect(queue.take(waiting: 2, limit: 4).isEmpty)
    #expect(queue.take(waiting: 1, limit: 4) == [0, 1, 2, 3])
    // None of these preparations ends.
    #expect(queue.take(waiting: 0, limit: 4) == [4, 5, 6, 7])
    #expect(queue.take(waiting: 0, limit: 4).isEmpty)
    queue.preparationEnded(of: 4)
    #expect(queue.take(waiting: 0, limit: 4) == [8, 9, 10, 11])
    queue.preparationEnded(of: 8)
    var rest: [Int] = []
    while case let taken = queue.take(waiting: 0, limit: 4), !taken.isEmpty {
      rest += taken
      queue.preparationEnded(of: taken.count)
    }
    #expect(rest == Array(12..<30))
    queue.append([30])
    #expect(queue.take(waiting: 0, limit: 4) == [30])
  }
}

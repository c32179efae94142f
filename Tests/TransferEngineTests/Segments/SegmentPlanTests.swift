import TestSupport
import Testing

@testable import TransferEngine

@Suite struct SegmentPlanTests {
  private let mebibyte: Int64 = 1 << 20

  @Test("the lead begins with everything, and each further connection takes half of the largest rest")
  func splits() throws {
    var plan = SegmentPlan(total: 64 * mebibyte)
    let lead = try unwrap(plan.begin(at: 0))
    let second = try unwrap(plan.take())
    #expect(second.start == 32 * mebibyte)
    #expect(plan.segment(lead)?.end == 32 * mebibyte)
    let third = try unwrap(plan.take())
    let fourth = try unwrap(plan.take())
    #expect(Set([third.start, fourth.start]) == [16 * mebibyte, 48 * mebibyte])
    #expect(plan.free.isEmpty)
  }

  @Test("free ranges are taken before anything is split, the largest first")
  func gaps() throws {
    var completed = ByteRanges(10 * mebibyte..<20 * mebibyte)
    completed.insert(50 * mebibyte..<60 * mebibyte)
    var plan = SegmentPlan(total: 100 * mebibyte, completed: completed)
    let starts = [plan.take()?.start, plan.take()?.start, plan.take()?.start]
    #expect(starts == [60 * mebibyte, 20 * mebibyte, 0])
    let split = try unwrap(plan.take())
    #expect(split.start == 80 * mebibyte)
  }

  @Test("a rest below twice the minimum is not split")
  func minimum() throws {
    var plan = SegmentPlan(total: 2 * SegmentPlan.minimumRest - 1)
    _ = try unwrap(plan.begin(at: 0))
    let (third, other) = (plan.take(), plan.take(rate: 1000, rates: [:]))
    #expect(third == nil && other == nil)
  }

  @Test("the tail of a slow connection is taken over as a whole, that of a fast one is not")
  func slowTail() throws {
    var plan = SegmentPlan(total: SegmentPlan.minimumRest)
    let lead = try unwrap(plan.begin(at: 0))
    plan.advance(lead, to: 100_000)
    let untaken = plan.take(rate: 1000, rates: [lead: 800])
    #expect(untaken == nil)
    let taken = try unwrap(plan.take(rate: 1000, rates: [lead: 400]))
    #expect(taken.position == 100_000)
    #expect(taken.end == SegmentPlan.minimumRest)
    #expect(plan.segment(lead)?.rest == 0)
    // What the slow one still writes is not counted twice.
    plan.advance(lead, to: 200_000)
    #expect(plan.completed.count == 100_000)
  }

  @Test("what an ended connection has not fetched is free again")
  func ends() throws {
    var plan = SegmentPlan(total: 64 * mebibyte)
    let lead = try unwrap(plan.begin(at: 0))
    let second = try unwrap(plan.take())
    plan.advance(second.id, to: second.start + mebibyte)
    plan.end(second.id)
    #expect(plan.free == [second.start + mebibyte..<64 * mebibyte])
    plan.advance(second.id, to: second.end)
    #expect(plan.completed.count == mebibyte)
    plan.end(lead)
    #expect(plan.free.count == 2)
  }

  @Test("a lead can begin at a byte that is missing, and only there")
  func lead() {
    var plan = SegmentPlan(total: 10, completed: ByteRanges(2..<5))
    let impossible = [plan.begin(at: 3), plan.begin(at: 10)]
    #expect(impossible == [nil, nil])
    let first = plan.begin(at: 0)
    #expect(first.flatMap { plan.segment($0)?.end } == 2)
    let again = plan.begin(at: 1)
    #expect(again == nil)
    let second = plan.begin(at: 5)
    #expect(second.flatMap { plan.segment($0)?.end } == 10)
  }

  @Test("the lead keeps its rest until the server has sent a range, and gets back what was not fetched")
  func tentative() throws {
    var plan = SegmentPlan(total: 64 * mebibyte)
    let lead = try unwrap(plan.begin(at: 0))
    let refused = try unwrap(plan.take(isTentative: true))
    #expect(plan.segment(lead)?.end == 64 * mebibyte)
    plan.end(refused.id)
    #expect(plan.segment(lead)?.end == 64 * mebibyte)
    let second = try unwrap(plan.take(isTentative: true))
    plan.advance(lead, to: 33 * mebibyte)
    plan.confirm()
    // The lead was faster: it ends, and the other one fetches its range.
    #expect(plan.segment(lead)?.rest == 0)
    plan.end(lead)
    #expect(plan.free.isEmpty)
    #expect(plan.segment(second.id)?.end == 64 * mebibyte)
  }

  @Test("connections that begin together get equal parts, also before it is known whether the server serves ranges")
  func evenParts() throws {
    for isTentative in [false, true] {
      var plan = SegmentPlan(total: 64 * mebibyte)
      let lead = try unwrap(plan.begin(at: 0))
      var ends: [Int64] = []
      for sharers in (1...7).reversed() {
        let taken = try unwrap(plan.take(sharers: sharers, isTentative: isTentative))
        #expect(taken.rest == 8 * mebibyte)
        ends.append(taken.end)
      }
      #expect(ends == (2...8).reversed().map { Int64($0) * 8 * mebibyte })
      #expect(plan.segment(lead)?.end == (isTentative ? 64 : 8) * mebibyte)
      plan.confirm()
      #expect(plan.segment(lead)?.end == 8 * mebibyte)
      expectConsistent(plan)
    }
  }

  @Test("when none of several tentative ranges is served, the lead has its whole rest")
  func allRefused() throws {
    var plan = SegmentPlan(total: 64 * mebibyte)
    let lead = try unwrap(plan.begin(at: 0))
    for sharers in [3, 2, 1] {
      let taken = try unwrap(plan.take(sharers: sharers, isTentative: true))
      plan.end(taken.id)
    }
    plan.confirm()
    #expect(plan.segment(lead)?.rest == 64 * mebibyte)
  }

  @Test("a rest that will be there before another connection has begun is left to its own")
  func notWorthwhile() throws {
    var plan = SegmentPlan(total: 10 * mebibyte)
    let lead = try unwrap(plan.begin(at: 0))
    let (rate, start) = (Double(mebibyte), ConnectionStart(delay: 1, worthwhile: 12))
    let untaken = plan.take(rates: [lead: rate], start: start)
    let unknown = plan.take(rate: rate, start: start)
    #expect(untaken == nil && unknown == nil)
    // A slower one needs longer, and goes on for the second that the other one needs to begin.
    let taken = try unwrap(plan.take(rates: [lead: rate / 2], start: start))
    #expect(taken.start == 5 * mebibyte + mebibyte / 4)
  }

  @Test("the tail of a slow connection is not taken over either, if that takes longer")
  func slowTailNotWorthwhile() throws {
    var plan = SegmentPlan(total: SegmentPlan.minimumRest)
    let lead = try unwrap(plan.begin(at: 0))
    let rates = [lead: Double(SegmentPlan.minimumRest)]
    let untaken = plan.take(rate: 1e9, rates: rates, start: ConnectionStart(worthwhile: 2))
    let taken = plan.take(rate: 1e9, rates: rates, start: ConnectionStart(worthwhile: 0.5))
    #expect(untaken == nil && taken != nil)
  }

  @Test("a slow connection's tail is taken over even if the largest rest is not worth another connection")
  func slowTailBesideFastRest() throws {
    var plan = SegmentPlan(total: 3 * mebibyte)
    let slow = try unwrap(plan.begin(at: 0, upTo: SegmentPlan.minimumRest))
    let fast = try unwrap(plan.take())
    let rates = [slow: 100.0, fast.id: 10 * Double(mebibyte)]
    let taken = try unwrap(plan.take(rate: 1e7, rates: rates, start: ConnectionStart(worthwhile: 2)))
    #expect(taken.position == 0 && taken.end == SegmentPlan.minimumRest)
    #expect(plan.segment(fast.id)?.end == 3 * mebibyte)
  }

  @Test(
    "what follows the lead's bytes is the lead's again when another connection fails, up to the end of its response")
  func extends() throws {
    var plan = SegmentPlan(total: 64 * mebibyte)
    let lead = try unwrap(plan.begin(at: 0, upTo: 48 * mebibyte))
    let second = try unwrap(plan.take())
    #expect(second.start > 0)
    plan.end(second.id)
    #expect(plan.segment(lead)?.end == 48 * mebibyte)
  }

  @Test("in random runs every byte is fetched, running segments never overlap, and the plan ends")
  func random() {
    for seed in UInt64(1)...60 {
      var generator = SeededGenerator(seed: seed)
      let total = Int64.random(in: 1...200 * mebibyte, using: &generator)
      var completed = ByteRanges()
      for _ in 0..<Int.random(in: 0..<5, using: &generator) {
        let start = Int64.random(in: 0..<total, using: &generator)
        completed.insert(start..<min(total, start + Int64.random(in: 1...20 * mebibyte, using: &generator)))
      }
      var plan = SegmentPlan(total: total, completed: completed)
      let connections = Int.random(in: 1...32, using: &generator)
      var steps = 0
      while !plan.isComplete, steps < 100_000 {
        steps += 1
        while plan.segments.count < connections {
          var rates: [Int: Double] = [:]
          for segment in plan.segments { rates[segment.id] = Double.random(in: 1...1000, using: &generator) }
          let start = ConnectionStart(worthwhile: Double.random(in: 0...20_000, using: &generator))
          // checked: fewer run than there may be
          let sharers = connections - plan.segments.count
          guard plan.take(rate: 500, rates: rates, start: start, sharers: sharers) != nil else { break }
        }
        expectConsistent(plan)
        guard let segment = plan.segments.randomElement(using: &generator) else { break }
        let step = Int64.random(in: 1...4 * mebibyte, using: &generator)
        plan.advance(segment.id, to: segment.position + step)
        let isBroken = Int.random(in: 0..<20, using: &generator) == 0
        if isBroken || plan.segment(segment.id)?.rest == 0 { plan.end(segment.id) }
      }
      #expect(plan.isComplete, "seed \(seed)")
      #expect(plan.completed.ranges == [0..<total])
    }
  }

  private func unwrap<Value>(_ value: Value?) throws -> Value { try #require(value) }

  private func expectConsistent(_ plan: SegmentPlan) {
    let running = plan.segments.filter { $0.rest > 0 }.sorted { $0.position < $1.position }
    for (one, other) in zip(running, running.dropFirst()) { #expect(one.end <= other.position) }
    for segment in running {
      #expect(plan.completed.gaps(upTo: segment.end).contains { $0.contains(segment.position) })
    }
    let known = plan.completed.count + running.reduce(0) { $0 + $1.rest } + plan.free.reduce(0) { $0 + $1.length }
    #expect(known == plan.total)
  }
}

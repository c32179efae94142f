import TestSupport
import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct AdmissionTests {
  private let admission = Admission(maxActive: 4, maxPerOrigin: .fixed(2))

  private func window(_ origins: String...) -> CandidateWindow {
    CandidateWindow(
      origins.enumerated().map { Candidate(id: JobID(Int64($0.offset + 1)), origin: $0.element, priority: 0) })
  }

  private func pick(
    _ window: inout CandidateWindow, _ load: Admission.Load = .init(), capacity: (String) -> Int = { _ in .max }
  )
    -> [Int64]
  {
    admission.pick(from: &window, load: load, capacity: capacity).map(\.rawValue)
  }

  @Test("jobs are picked in order, up to the limits for each origin and in total")
  func limits() {
    var waiting = window("a", "a", "a", "b", "c", "d")
    #expect(pick(&waiting) == [1, 2, 4, 5])
    #expect(waiting.candidates.map(\.id.rawValue) == [3, 6])
  }

  @Test("running transfers count towards the limits")
  func load() {
    var load = Admission.Load()
    load.add("a")
    load.add("a")
    load.add("b")
    var waiting = window("a", "b", "b")
    #expect(pick(&waiting, load) == [2])
    load.remove("a")
    load.remove("a")
    load.remove("a")
    #expect(load.perOrigin["a"] == nil)
  }

  @Test("a closed origin gets no job, and a probed origin gets one")
  func capacity() {
    var waiting = window("a", "b", "b")
    #expect(pick(&waiting, capacity: { $0 == "a" ? 0 : 1 }) == [2])
  }

  @Test("each job that waits for a probed origin probes it in turn")
  func turns() {
    for (last, next) in [(0, 1), (1, 3), (2, 3), (4, 5), (5, 1), (9, 1)] {
      var waiting = window("a", "b", "a", "b", "a")
      let picked = admission.pick(
        from: &waiting, load: .init(), capacity: { $0 == "a" ? 1 : .max }, lastProbes: ["a": JobID(Int64(last))])
      #expect(picked.map(\.rawValue).sorted() == [next, 2, 4].sorted().map(Int64.init), "after \(last)")
    }
    var none = window("b")
    #expect(
      admission.pick(from: &none, load: .init(), capacity: { _ in .max }, lastProbes: ["a": JobID(7)]) == [JobID(1)])
  }

  @Test("an isolated job starts only when nothing else runs, and the first of several starts first")
  func alone() {
    let marked = [2, 5].map { Candidate(id: JobID($0), origin: "a", priority: 0) }
    for (candidates, running, expected) in [
      (marked, 0, JobID(2)), (marked, 1, nil), ([], 0, nil), (Array(marked.dropFirst()), 0, JobID(5)),
    ] {
      #expect(Admission.pickIsolated(from: candidates, running: running) == expected)
    }
  }

  @Test("the isolation limit is ten minutes, doubles with each further crash mark, and is bounded")
  func trial() {
    let minutes = [-1, 0, 2, 3, 4, 9, 1000, Int.max].map { Admission.isolationLimit(crashMarks: $0) }
    #expect(minutes == [600, 600, 600, 1200, 2400, 76_800, 76_800, 76_800].map { .seconds($0) })
  }

  @Test("saturated origins are reported")
  func saturated() {
    var load = Admission.Load()
    load.add("a")
    load.add("a")
    load.add("b")
    #expect(admission.saturated(load, capacity: { _ in .max }) == ["a"])
    #expect(admission.saturated(load, capacity: { _ in 1 }) == ["a", "b"])
  }

  @Test("the window picks the same jobs as a naive search")
  func random() {
    var generator = SeededGenerator(seed: 7)
    for round in 0..<500 {
      let origins = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        String(Int.random(in: 0..<5, using: &generator))
      }
      let limit = Int.random(in: 1...5, using: &generator)
      let admission = Admission(maxActive: .random(in: 1...12, using: &generator), maxPerOrigin: .fixed(limit))
      let closed = String(Int.random(in: 0..<8, using: &generator))
      var load = Admission.Load()
      for _ in 0..<Int.random(in: 0...8, using: &generator) {
        load.add(String(Int.random(in: 0..<5, using: &generator)))
      }
      let waiting = origins.enumerated().map {
        Candidate(id: JobID(Int64($0.offset)), origin: $0.element, priority: .random(in: 0...2, using: &generator))
      }
      let ordered = waiting.sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }
      var (expected, rest, total, perOrigin) = ([JobID](), [JobID](), load.total, load.perOrigin)
      for candidate in ordered {
        let has = perOrigin[candidate.origin, default: 0]
        if total < admission.maxActive, has < limit, candidate.origin != closed {
          expected.append(candidate.id)
          total += 1
          perOrigin[candidate.origin] = has + 1
        } else {
          rest.append(candidate.id)
        }
      }
      var window = CandidateWindow(waiting)
      let picked = admission.pick(from: &window, load: load, capacity: { $0 == closed ? 0 : .max })
      #expect(picked == expected && window.candidates.map(\.id) == rest, "round \(round)")
    }
  }

  @Test("a pass without free slots examines no candidate, however many wait")
  func cost() {
    var load = Admission.Load()
    for _ in 0..<2 { load.add("a") }
    var waiting = CandidateWindow((1...500).map { Candidate(id: JobID($0), origin: "a", priority: 0) })
    var questions = 0
    #expect(
      admission.pick(
        from: &waiting, load: load,
        capacity: { _ in
          questions += 1; return .max
        }
      ).isEmpty)
    #expect(questions <= 2)
  }
}

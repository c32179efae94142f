import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct AdmissionTests {
  private let admission = Admission(maxActive: 4, maxPerOrigin: 2)

  private func window(_ origins: String...) -> [Candidate] {
    origins.enumerated().map { Candidate(id: JobID(Int64($0.offset + 1)), origin: $0.element, priority: 0) }
  }

  private func pick(
    _ window: inout [Candidate], _ load: Admission.Load = .init(), capacity: (String) -> Int = { _ in .max }
  )
    -> [Int64]
  {
    admission.pick(from: &window, load: load, capacity: capacity).map(\.rawValue)
  }

  @Test("in order, up to the limits of the origin and of all")
  func limits() {
    var waiting = window("a", "a", "a", "b", "c", "d")
    #expect(pick(&waiting) == [1, 2, 4, 5])
    #expect(waiting.map(\.id.rawValue) == [3, 6])
  }

  @Test("what is under way counts")
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

  @Test("a closed origin gets nothing, a probed one a single job")
  func capacity() {
    var waiting = window("a", "b", "b")
    #expect(pick(&waiting, capacity: { $0 == "a" ? 0 : 1 }) == [2])
  }

  @Test("of those that wait for a probed origin each has its turn")
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

  @Test("saturated origins are named")
  func saturated() {
    var load = Admission.Load()
    load.add("a")
    load.add("a")
    load.add("b")
    #expect(admission.saturated(load, capacity: { _ in .max }) == ["a"])
    #expect(admission.saturated(load, capacity: { _ in 1 }) == ["a", "b"])
  }
}

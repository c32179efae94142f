import Store
import Testing
import TransferAPI

@testable import transferd

@Suite struct CandidateWindowTests {
  private func candidate(_ id: Int64, _ batch: String?, _ priority: Int = 0) -> Candidate {
    Candidate(
      id: JobID(id), origin: "o", priority: priority, batch: batch.map { BatchID(owner: 1, name: $0) }, owner: 1)
  }

  private func order(_ window: CandidateWindow) -> [Int64] { window.candidates.map(\.id.rawValue) }

  @Test("batches of one priority take turns, jobs without a batch among them; higher priorities come first")
  func turns() {
    var window = CandidateWindow()
    window.add(
      (1...4).map { candidate($0, "a") } + [
        candidate(5, "b"), candidate(6, "b"), candidate(7, nil), candidate(8, "a", 3),
      ])
    // Job 8 is the first of its batch.
    #expect(order(window) == [8, 5, 7, 1, 6, 2, 3, 4])
  }

  @Test("what runs already counts, and one batch alone keeps the order of its jobs")
  func running() {
    var window = CandidateWindow()
    window.add(
      (1...3).map { candidate($0, "a") } + (4...6).map { candidate($0, "b") },
      running: [BatchID(owner: 1, name: "a"): 2])
    #expect(order(window) == [4, 5, 1, 6, 2, 3])
    var single = CandidateWindow()
    single.add([candidate(3, nil), candidate(1, nil)], running: [BatchID(owner: 1, name: ""): 9])
    #expect(order(single) == [1, 3])
  }
}

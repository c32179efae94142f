import Testing

@testable import transferd

@Suite struct DescriptorBudgetTests {
  private func limits(_ maxActive: Int) -> Scheduler.Limits {
    var limits = Scheduler.Limits()
    limits.queue.admission.maxActive = maxActive
    return limits
  }

  @Test("the parts never exceed the limit", arguments: [128, 256, 1000, 1024, 4096, 65536], [1, 2, 8])
  func fits(limit: Int, cores: Int) {
    let budget = DescriptorBudget(limit: limit, cores: cores)
    let open =
      40 + 3 * cores + budget.clients + budget.idleConnections + 2 * budget.finishing + 8 * budget.transfers
    #expect(open <= limit)
    #expect(open > limit * 3 / 4, "the budget uses most of the limit")
  }

  @Test("with very few descriptors each part is still at least one", arguments: [0, 20, 64])
  func few(limit: Int) {
    let budget = DescriptorBudget(limit: limit, cores: 4)
    #expect((budget.transfers, budget.finishing, budget.idleConnections) == (1, 1, 1))
    #expect(budget.clients >= 8)
  }

  @Test("a usual limit keeps the defaults without a warning")
  func usual() {
    for limit in [1024, 65536] {
      let budget = DescriptorBudget(limit: limit, cores: 8)
      #expect(budget.bounding(limits(16)).queue.admission == limits(16).queue.admission)
      #expect(budget.shortage(for: limits(16)) == nil)
    }
    #expect(DescriptorBudget(limit: 65536, cores: 8).bounding(limits(4096)) == limits(4096))
  }

  @Test("limits above the budget are reduced, with a warning")
  func bounded() {
    let budget = DescriptorBudget(limit: 96, cores: 2)
    let bounded = budget.bounding(limits(64))
    #expect(bounded.queue.admission.maxActive == 2)
    #expect(bounded.queue.admission.maxPerOrigin == limits(64).queue.admission.maxPerOrigin)
    #expect(bounded.queue.maximumFinishing == 2)
    #expect(
      budget.shortage(for: limits(64))
        == "maxActive is 64, but 96 descriptors are enough for 2 transfers at once: raise the hard limit "
        + "(ulimit -Hn, LimitNOFILE=) or lower maxActive")
  }
}

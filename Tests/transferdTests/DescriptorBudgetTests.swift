import Testing

@testable import transferd

@Suite struct DescriptorBudgetTests {
  private func limits(_ maxActive: Int) -> Scheduler.Limits {
    var limits = Scheduler.Limits()
    limits.admission.maxActive = maxActive
    return limits
  }

  @Test("all that may be open at once fits", arguments: [128, 256, 1000, 1024, 4096, 65536], [1, 2, 8])
  func fits(limit: Int, cores: Int) {
    let budget = DescriptorBudget(limit: limit, cores: cores)
    let open =
      40 + 3 * cores + budget.clients + budget.idleConnections + 2 * budget.finishing + 8 * budget.transfers
    #expect(open <= limit)
    #expect(open > limit * 3 / 4, "not so few that it hurts")
  }

  @Test("with hardly any there is still one of each", arguments: [0, 20, 64])
  func few(limit: Int) {
    let budget = DescriptorBudget(limit: limit, cores: 4)
    #expect((budget.transfers, budget.finishing, budget.idleConnections) == (1, 1, 1))
    #expect(budget.clients >= 8)
  }

  @Test("a usual limit leaves the defaults as they are, and nobody is warned")
  func usual() {
    for limit in [1024, 65536] {
      let budget = DescriptorBudget(limit: limit, cores: 8)
      #expect(budget.bounding(limits(16)).admission == limits(16).admission)
      #expect(budget.shortage(for: limits(16)) == nil)
    }
    #expect(DescriptorBudget(limit: 65536, cores: 8).bounding(limits(4096)) == limits(4096))
  }

  @Test("who asks for more than there is gets what there is, and is told")
  func bounded() {
    let budget = DescriptorBudget(limit: 96, cores: 2)
    let bounded = budget.bounding(limits(64))
    #expect(bounded.admission.maxActive == 2)
    #expect(bounded.admission.maxPerOrigin == limits(64).admission.maxPerOrigin)
    #expect(bounded.maximumFinishing == 2)
    #expect(
      budget.shortage(for: limits(64))
        == "maxActive is 64, but 96 descriptors are enough for 2 transfers at once: raise the hard limit "
        + "(ulimit -Hn, LimitNOFILE=) or lower maxActive")
  }
}

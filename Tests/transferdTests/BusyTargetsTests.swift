import Testing

@testable import transferd

@Suite struct BusyTargetsTests {
  @Test("a target has one task, which looks again if there may be more")
  func again() {
    var targets = BusyTargets()
    let begun = ["a", "b", "a"].map { targets.begin($0) }
    #expect(begun == [true, true, false] && targets.contains("a") && targets.contains("b"))
    let ended = ["a", "a", "b"].map { targets.end($0) }
    #expect(ended == [false, true, true] && !targets.contains("a") && !targets.contains("b"))
    let isNew = targets.begin("a")
    #expect(isNew)
  }
}

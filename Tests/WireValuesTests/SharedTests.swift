import Testing
import WireValues

@Suite struct SharedTests {
  @Test("a change of one copy does not change the others")
  func copies() {
    var first = Shared([1, 2])
    let second = first
    first.value.append(3)
    var third = first
    third.value = []
    #expect(first.value == [1, 2, 3] && second.value == [1, 2] && third.value.isEmpty)
    #expect(first != second && second == Shared([1, 2]))
  }

  @Test("a value without copies is changed in place")
  func inPlace() {
    var shared = Shared([1, 2, 3])
    shared.value.reserveCapacity(8)
    let before = shared.value.withUnsafeBufferPointer { $0.baseAddress }
    shared.value.append(4)
    #expect(shared.value.withUnsafeBufferPointer { $0.baseAddress } == before)
  }
}

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

/// A property that hands out a shared value, as `JobSpec.options` does.
private struct Holder: Sendable {
  var name = "a holder"
  var whole: Whole {
    get { shared.value }
    _modify { yield &shared.value }
  }
  private var shared = Shared(Whole())
}

private struct Whole: Sendable {
  var first: String?
  var part = Part()
}

/// Larger than what Swift keeps in registers.
private struct Part: Equatable, Sendable {
  var texts: (String?, String?, String?, String?, String?, String?)
  var lists: ([String], [Int]) = ([], [])

  static func == (left: Part, right: Part) -> Bool { left.texts == right.texts && left.lists == right.lists }
}

extension SharedTests {
  /// With `_read` in place of `get`, the part is destroyed in memory that others have written to by then.
  @Test("a large part that was read stays whole while the heap is used")
  func parts() {
    var holder = Holder()
    let text = String(repeating: "a path that is long ", count: 4)
    holder.whole.part.texts.0 = text
    holder.whole.part.texts.3 = text + text
    let holders: [Holder?] = [holder, nil, holder]
    var seen: [Part] = []
    func look(_ part: Part) throws(Refusal) {
      let memory = (1...300).map { [UInt8](repeating: 0x41, count: $0 * 16) }
      guard memory.count == 300 else { throw Refusal() }
      if seen.last != part { seen.append(part) }
    }
    for _ in 0..<20 {
      let results = holders.map { holder -> Bool? in
        guard var holder else { return nil }
        do throws(Refusal) {
          try look(holder.whole.part)
          holder.name += "!"
          holder.whole.part.texts.3 = nil
          return holder.whole.part.texts.0 == text
        } catch {
          return false
        }
      }
      #expect(results == [true, nil, true])
    }
    #expect(seen == [holder.whole.part] && seen.first?.texts.3 == text + text)
  }

  private struct Refusal: Error {}
}

import Foundation
import Synchronization
import Testing
import TransferAPI

@testable import transferd

@Suite struct RecentEventsTests {
  static func events(_ numbers: ClosedRange<Int64>) -> [Event] {
    numbers.map { Event(seq: $0, job: JobID($0 % 7), at: Date(timeIntervalSince1970: Double($0)), kind: .added) }
  }

  static func numbers(_ events: [Event]?) -> [Int64]? { events?.map(\.seq) }

  @Test("what follows a number is given if all of it is known")
  func covered() {
    let recent = RecentEvents()
    #expect(recent.events(after: 0, limit: 10) == nil)
    recent.append(Self.events(11...13))
    // A number that a transaction took and gave back is missing.
    recent.append(Self.events(15...15))
    for (number, expected) in [
      (9, nil), (10, [11, 12, 13, 15]), (12, [13, 15]), (13, [15]), (14, [15]), (15, []), (99, []),
    ] as [(Int64, [Int64]?)] {
      #expect(Self.numbers(recent.events(after: number, limit: 10)) == expected, "\(number)")
    }
    #expect(Self.numbers(recent.events(after: 10, limit: 2)) == [11, 12])
    recent.removeAll()
    #expect(recent.events(after: 15, limit: 10) == nil)
  }

  @Test("the oldest events are forgotten, and then they are not known")
  func capacity() {
    let recent = RecentEvents(capacity: 10)
    for number in 1...Int64(1000) { recent.append(Self.events(number...number)) }
    var known = 0
    for number in 0...Int64(1000) {
      guard let events = recent.events(after: number, limit: 100) else { continue }
      known += 1
      #expect(Self.numbers(events) == (number < 1000 ? Array(number + 1...1000) : []))
    }
    #expect((11...21).contains(known))
  }

  @Test("an event is encoded once, however many readers it has")
  func encodedOnce() {
    let recent = RecentEvents()
    let events = Self.events(1...50)
    recent.append(events)
    var count = 0
    for _ in 0..<100 {
      for event in events {
        let text = recent.text(of: event) { event in
          count += 1
          return Array("\(event.seq)".utf8)
        }
        #expect(text == Array("\(event.seq)".utf8))
      }
    }
    #expect(count == 50)
    // An event that is not known is encoded each time, and so is one that differs from the known one.
    var other = events[3]
    other.reason = "other"
    for event in [Self.events(51...51)[0], other] {
      #expect(recent.text(of: event) { _ in [1] } == [1])
      #expect(recent.text(of: event) { _ in [2] } == [2])
    }
  }

  @Test("the hub keeps events while there are readers, and gathers longer if there are many")
  func hub() {
    let hub = EventHub()
    hub.publish(Self.events(1...3))
    #expect(hub.recent.events(after: 0, limit: 9) == nil)
    let woken = Mutex(0)
    let tokens = (0..<64).map { _ in hub.addReader { woken.withLock { $0 += 1 } } }
    hub.publish(Self.events(4...5))
    #expect(woken.withLock { $0 } == 64)
    #expect(Self.numbers(hub.recent.events(after: 3, limit: 9)) == [4, 5])
    #expect(hub.gatheringTime(.milliseconds(10)) == .milliseconds(40))
    for token in tokens.dropFirst() { hub.removeReader(token) }
    #expect(hub.gatheringTime(.milliseconds(10)) == .milliseconds(10))
    #expect(Self.numbers(hub.recent.events(after: 3, limit: 9)) == [4, 5])
    hub.removeReader(tokens[0])
    #expect(hub.recent.events(after: 3, limit: 9) == nil)
    hub.publish(Self.events(6...6))
    #expect(woken.withLock { $0 } == 64)
  }
}

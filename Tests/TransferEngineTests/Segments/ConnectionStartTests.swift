import Testing

@testable import TransferEngine

/// What the next connection of a download will cost.
@Suite struct ConnectionStartTests {
  /// A segment that was fetched up to `position` of 100.
  private func segment(_ id: Int, to position: Int64 = 0) -> SegmentPlan.Segment {
    SegmentPlan.Segment(id: id, start: 0, position: position, end: 100)
  }

  @Test func `nothing is known at first`() {
    #expect(ConnectionStarts().next == ConnectionStart(delay: 0, worthwhile: 0.2))
  }

  @Test func `new connections cost slow start as well`() {
    var starts = ConnectionStarts()
    starts.began(segment(1))
    starts.received(1, after: 0.5)
    #expect(starts.next == ConnectionStart(delay: 1, worthwhile: 6))
    starts.began(segment(2))
    starts.received(2, after: 0.25)
    #expect(starts.next.worthwhile == 4.5)
  }

  @Test func `a connection whose response was read to its end is used again`() {
    var starts = ConnectionStarts()
    starts.began(segment(1))
    starts.received(1, after: 0.5)
    starts.ended(segment(1, to: 100))
    #expect(starts.next == ConnectionStart(delay: 0.5, worthwhile: 1))
    starts.began(segment(2))
    starts.received(2, after: 0.125)
    #expect(starts.next.worthwhile == 6)
    starts.ended(segment(2, to: 100))
    #expect(starts.next == ConnectionStart(delay: 0.125, worthwhile: 0.25))
  }

  @Test func `what has nearly arrived is not divided, however fast a connection begins`() {
    var starts = ConnectionStarts()
    starts.began(segment(1))
    starts.received(1, after: 0.0078125)
    #expect(starts.next == ConnectionStart(delay: 0.015625, worthwhile: 0.2))
    starts.ended(segment(1, to: 100))
    #expect(starts.next == ConnectionStart(delay: 0.0078125, worthwhile: 0.2))
  }

  @Test func `one that lost a part of its rest is closed`() {
    var starts = ConnectionStarts()
    starts.began(segment(1))
    starts.received(1, after: 0.5)
    var cut = segment(1, to: 50)
    cut.end = 50
    starts.ended(cut)
    #expect(starts.next.worthwhile == 6)
  }

  @Test func `a connection that has brought nothing yet is given the time that others needed`() {
    var starts = ConnectionStarts()
    #expect(starts.patience == 10)
    starts.began(segment(1))
    starts.received(1, after: 0.125)
    #expect(starts.patience == 1)
    starts.began(segment(2))
    starts.received(2, after: 5.875)
    #expect(starts.patience == 12)
  }

  @Test func `every rest is worth a connection as long as no rate is known`() {
    let start = ConnectionStart(delay: 1, worthwhile: 10)
    #expect(start.isWorth(1, at: nil) && start.isWorth(1, at: 0))
    #expect(start.isWorth(1000, at: 100) && !start.isWorth(999, at: 100))
  }
}

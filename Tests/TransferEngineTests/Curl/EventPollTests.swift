import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct EventPollTests {
  /// A connected pair of sockets, closed with this object.
  private final class Pair {
    let ends: [Int32]

    init() {
      var ends: [Int32] = [-1, -1]
      precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      self.ends = ends
    }

    deinit { for end in ends { close(end) } }

    func send() { _ = write(ends[1], "x", 1) }
  }

  private func ready(_ poll: EventPoll, milliseconds: Int32 = 0) -> [Int32] {
    var found: [Int32] = []
    poll.wait(milliseconds: milliseconds) { found.append($0.descriptor) }
    return found
  }

  @Test("a descriptor is reported until it was read, and not after it was forgotten")
  func life() {
    let (poll, pair) = (EventPoll(), Pair())
    #expect(poll.watch(pair.ends[0], for: .reading, isWatched: false) == 0)
    #expect(ready(poll).isEmpty)
    pair.send()
    #expect(ready(poll) == [pair.ends[0]] && ready(poll) == [pair.ends[0]])
    #expect(poll.watch(pair.ends[0], for: .writing, isWatched: true) == 0)
    poll.wait(milliseconds: 0) { #expect($0.ready == .writing && !$0.isFailing) }
    poll.forget(pair.ends[0])
    #expect(ready(poll).isEmpty)
    // A second time, and a number without a file.
    poll.forget(pair.ends[0])
    poll.forget(1_000_000)
  }

  @Test("a number whose file was closed and that belongs to another one is watched again")
  func reuse() {
    let (poll, old, new) = (EventPoll(), Pair(), Pair())
    let number = old.ends[0]
    #expect(poll.watch(number, for: .reading, isWatched: false) == 0)
    old.send()
    // Closes the old socket and gives its number to the new one, in one step: the kernel has forgotten the number.
    #expect(dup2(new.ends[0], number) == number)
    #expect(ready(poll).isEmpty)
    #expect(poll.watch(number, for: .reading, isWatched: true) == 0)
    #expect(ready(poll).isEmpty)
    new.send()
    #expect(ready(poll) == [number])
  }

  @Test("a descriptor that is watched although the caller does not know it is changed")
  func unknown() {
    let (poll, pair) = (EventPoll(), Pair())
    #expect(poll.watch(pair.ends[0], for: .writing, isWatched: false) == 0)
    #expect(poll.watch(pair.ends[0], for: .reading, isWatched: false) == 0)
    #expect(ready(poll).isEmpty)
  }

  @Test("a file that cannot be watched is refused with its error number")
  func refusal() throws {
    let directory = try TemporaryDirectory()
    let file = open(directory.path("a"), O_CREAT | O_RDWR, 0o600)
    defer { close(file) }
    let poll = EventPoll()
    #expect(poll.watch(file, for: .reading, isWatched: false) == EPERM)
    #expect(poll.watch(-1, for: .reading, isWatched: false) == EBADF)
    #expect(ready(poll).isEmpty)
  }

  @Test("the end of the other side is a failure that can be read")
  func failure() {
    let (poll, pair) = (EventPoll(), Pair())
    #expect(poll.watch(pair.ends[0], for: .reading, isWatched: false) == 0)
    shutdown(pair.ends[1], Int32(SHUT_RDWR))
    var events: [EventPoll.Event] = []
    poll.wait(milliseconds: 0) { events.append($0) }
    #expect(events.count == 1 && events.allSatisfy { $0.isFailing && $0.ready == .reading })
  }

  @Test("more descriptors than one wait returns are reported by the next waits")
  func many() {
    let poll = EventPoll()
    let pairs = (0..<300).map { _ in Pair() }
    for pair in pairs { #expect(poll.watch(pair.ends[0], for: .writing, isWatched: false) == 0) }
    var found: Set<Int32> = []
    for _ in 0..<10 { found.formUnion(ready(poll)) }
    #expect(found == Set(pairs.map { $0.ends[0] }))
  }

  @Test("a wake-up from another thread ends a wait, also one that begins later")
  func wakeUp() async {
    let poll = EventPoll()
    let start = ContinuousClock.now
    poll.wakeUp()
    #expect(ready(poll, milliseconds: 100_000).isEmpty)
    for _ in 0..<100 {
      Thread.detachNewThread { poll.wakeUp() }
      #expect(ready(poll, milliseconds: 100_000).isEmpty)
    }
    #expect(start.duration(to: .now) < .seconds(90))
  }

  @Test("a wait without events lasts as long as it should")
  func time() {
    let poll = EventPoll()
    let start = ContinuousClock.now
    #expect(ready(poll, milliseconds: 50).isEmpty)
    #expect(start.duration(to: .now) >= .milliseconds(50))
  }
}

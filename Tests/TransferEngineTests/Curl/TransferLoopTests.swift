import CCurl
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct TransferLoopTests {
  /// Takes a body, or does with it what the closure says.
  private final class Receiver: TransferReceiver {
    let pieces = Watched(0)
    private let verdict: @Sendable () -> BodyVerdict

    init(_ verdict: @escaping @Sendable () -> BodyVerdict = { .taken }) { self.verdict = verdict }

    func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict { .takeBody }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
      pieces.mutate { $0 += 1 }
      return verdict()
    }
  }

  private final class Sink: TransferSink {
    func transferEnded(_ outcome: TransferOutcome) {}
  }

  private static func request(_ url: String) -> WireRequest {
    var request = WireRequest(
      url: url, host: "127.0.0.1", method: .get, headers: [:], connectTimeout: .seconds(60))
    request.stallTimeout = .seconds(100)
    return request
  }

  private static func status(_ outcome: TransferOutcome) -> Int? {
    guard case .finished(let head, _) = outcome else { return nil }
    return head?.status
  }

  /// The CPU time of the loop's thread so far.
  private static func time(of loop: TransferLoop) async -> Duration {
    let time = Mutex(Duration.zero)
    await loop.run { _ in time.withLock { $0 = ThreadTime.current } }
    return time.withLock { $0 }
  }

  enum Crowd: CaseIterable { case idle, paused }

  @Test("connections that are idle or paused cost no CPU time while another one works", arguments: Crowd.allCases)
  func quiet(_ crowd: Crowd) async throws {
    let file = FileBehaviour.file(size: 4 << 20)
    let server = try LoopbackServer(crowd == .idle ? file.stalling(after: 1, on: .always) : file)
    // For a second and a half, in many small pieces.
    let slow = try LoopbackServer(.file(size: 1500).dripping(bytesPerSecond: 1000))
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let receivers = (0..<200).map { _ in Receiver { crowd == .idle ? .taken : .pause } }
    try await withThrowingTaskGroup(of: TransferOutcome.self) { group in
      for receiver in receivers {
        group.addTask { await loop.perform(Self.request(server.url("/a")), id: TransferID(), receiver: receiver) }
      }
      for receiver in receivers { try await receiver.pieces.wait(for: "the first bytes") { $0 > 0 ? () : nil } }
      let start = await Self.time(of: loop)
      let end = await loop.perform(Self.request(slow.url("/b")), id: TransferID(), receiver: Receiver())
      #expect(Self.status(end) == 200)
      let used = await Self.time(of: loop) - start
      #expect(used < .milliseconds(150), "\(used) in 1.5 s")
      // Paused transfers got no byte twice.
      if crowd == .paused { #expect(receivers.allSatisfy { $0.pieces.value == 1 }) }
      group.cancelAll()
      for try await outcome in group {
        guard case .cancelled = outcome else {
          Issue.record("\(outcome)")
          return
        }
      }
    }
  }

  @Test("uploads that wait for their bytes cost no CPU time while another transfer works")
  func starvedUploads() async throws {
    let server = try LoopbackServer(bodies: .byScript) { _ in [.readBody(), .stall] }
    let slow = try LoopbackServer(.file(size: 1500).dripping(bytesPerSecond: 1000))
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let pipes = (0..<100).map { _ in BodyPipe() }
    try await withThrowingTaskGroup(of: TransferOutcome.self) { group in
      for pipe in pipes {
        group.addTask {
          var request = Self.request(server.url("/a"))
          request.method = .put
          request.body = .stream(pipe)
          return await loop.perform(request, id: TransferID(), receiver: Receiver())
        }
      }
      try await server.waitForRequests(pipes.count)
      let start = await Self.time(of: loop)
      let end = await loop.perform(Self.request(slow.url("/b")), id: TransferID(), receiver: Receiver())
      #expect(Self.status(end) == 200)
      let used = await Self.time(of: loop) - start
      #expect(used < .milliseconds(150), "\(used) in 1.5 s")
      #expect(pipes.allSatisfy { $0.isStarved })
      group.cancelAll()
    }
  }

  @Test("sockets whose numbers are used again at once, after closes and resets, do not lose an event")
  func reuse() async throws {
    let payload = Payload(size: 50_000)
    // Every third connection breaks in the middle of the body, and no other one is kept.
    let closing = FileBehaviour.file(payload).closingConnections()
    let server = try LoopbackServer(
      closing.dropping(after: 20_000, on: When { _, ordinal in ordinal % 3 == 0 }, by: .reset))
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let outcomes = await withTaskGroup(of: [TransferOutcome].self) { group in
      for _ in 0..<10 {
        group.addTask {
          var outcomes: [TransferOutcome] = []
          for _ in 0..<30 {
            outcomes.append(
              await loop.perform(Self.request(server.url("/a")), id: TransferID(), receiver: Receiver()))
          }
          return outcomes
        }
      }
      return await group.reduce([], +)
    }
    let whole = outcomes.filter {
      if case .finished(_, let metrics) = $0 { metrics.bytesReceived == 50_000 } else { false }
    }
    let broken = outcomes.filter { if case .failed(.connection, _, _) = $0 { true } else { false } }
    #expect(whole.count == 200 && broken.count == 100)
    #expect(server.counters.connections == 300)
  }

  @Test("a transfer that its receiver cancels ends, and the loop continues")
  func cancelInside() async throws {
    let server = try LoopbackServer(.file(size: 4 << 20))
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    for _ in 0..<20 {
      let id = TransferID()
      let receiver = Receiver {
        id.cancel()
        Task { await loop.cancel(id) }
        return .pause
      }
      let outcome = await loop.perform(Self.request(server.url("/a")), id: id, receiver: receiver)
      guard case .cancelled = outcome else {
        Issue.record("\(outcome)")
        return
      }
    }
    let last = await loop.perform(Self.request(server.url("/a")), id: TransferID(), receiver: Receiver())
    #expect(Self.status(last) == 200)
  }

  @Test("many paused transfers that continue at once all end")
  func unpause() async throws {
    let server = try LoopbackServer(.file(size: 1 << 20))
    let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
    let isOpen = Atomic(false)
    let gate = Watched(0)
    await withTaskGroup(of: TransferOutcome.self) { group in
      let ids = (0..<100).map { _ in TransferID() }
      for id in ids {
        let receiver = Receiver {
          guard !isOpen.load(ordering: .acquiring) else { return .taken }
          gate.mutate { $0 += 1 }
          return .pause
        }
        group.addTask { await loop.perform(Self.request(server.url("/a")), id: id, receiver: receiver) }
      }
      try? await gate.wait(for: "100 paused transfers") { $0 == 100 ? () : nil }
      isOpen.store(true, ordering: .releasing)
      await loop.run { loop in for id in ids { loop.unpause(id) } }
      for await outcome in group { #expect(Self.status(outcome) == 200) }
    }
  }

  @Test("a loop that sleeps ends with its last owner, and closes its connections")
  func end() async throws {
    let server = try LoopbackServer(.file(size: 1000))
    do {
      let loop = TransferLoop(maximumConnections: 10, BandwidthLimits())
      let outcome = await loop.perform(Self.request(server.url("/a")), id: TransferID(), receiver: Receiver())
      #expect(Self.status(outcome) == 200)
      #expect(server.counters.openConnections == 1)
    }
    try await server.waitForCounters { $0.openConnections == 0 }
  }

  @Test("libcurl is called when its time has come, and not again and again before")
  func timer() throws {
    CurlLibrary.initialize()
    let server = try LoopbackServer(.file(size: 1000).stallingBeforeAnswer())
    let multi = try #require(curl_multi_init())
    let events = CurlEvents(multi)
    let handle = EasyHandle()
    handle.set(CURLOPT_URL, server.url("/a"))
    handle.set(CURLOPT_NOSIGNAL, true)
    handle.set(CURLOPT_TIMEOUT_MS, 400)
    let start = ContinuousClock.now
    curl_multi_add_handle(multi, handle.pointer)
    var (turns, left): (Int, Int32) = (0, 0)
    var end: CURLcode?
    while end == nil, turns < 100 {
      turns += 1
      events.wait(atMost: 100_000)
      events.act()
      end = curl_multi_info_read(multi, &left)?.pointee.data.result
    }
    let duration = start.duration(to: .now)
    #expect(end == CURLE_OPERATION_TIMEDOUT)
    #expect(duration >= .milliseconds(399) && duration < .seconds(60))
    #expect(turns < 20)
    curl_multi_remove_handle(multi, handle.pointer)
    curl_multi_cleanup(multi)
    withExtendedLifetime(events) {}
  }

  @Test("a socket that the system cannot watch ends its transfer with the reason")
  func refusal() async throws {
    let server = try LoopbackServer(.file(size: 1000))
    let transfer = Transfer(
      id: TransferID(), request: Self.request(server.url("/a")), receiver: Receiver(), handle: EasyHandle(),
      loop: LoopState(), .deliver(Sink()))
    guard case .failed(.connection(.broken(let reason)), nil, _) = transfer.outcome(refusingSocket: ENOSPC) else {
      Issue.record("another outcome")
      return
    }
    #expect(reason == "the system cannot watch its socket: No space left on device")
  }
}

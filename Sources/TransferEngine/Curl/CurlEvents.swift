import CCurl

/// What libcurl waits for: its sockets and a time (`curl_multi_socket_action(3)`). Used on the loop's thread only, except for
/// `poll.wakeUp()`.
///
/// libcurl says which sockets it waits for, so nothing is spent on a connection that is idle or paused.
final class CurlEvents {
  /// A transfer whose socket cannot be watched, and why.
  struct Refusal {
    let handle: UnsafeMutableRawPointer
    let error: Int32
  }

  let poll = EventPoll()
  /// OpenSSL calls it for all connections of the multi handle.
  let reading = TLSReading()
  private let multi: UnsafeMutableRawPointer
  private var ready: [EventPoll.Event] = []
  /// When libcurl wants to be called.
  private var dueAt: ContinuousClock.Instant?
  private var refusals: [Refusal] = []

  /// - Parameter multi: a multi handle without transfers. It must not outlive this object.
  init(_ multi: UnsafeMutableRawPointer) {
    self.multi = multi
    ready.reserveCapacity(128)
    let context = Unmanaged.passUnretained(self).toOpaque()
    transfer_multi_setopt_socket_callback(multi, Self.socketChanged, context)
    transfer_multi_setopt_timer_callback(multi, Self.timerChanged, context)
  }

  // MARK: The loop

  /// Waits until libcurl has something to do, or until `poll.wakeUp()`.
  /// - Parameter limit: milliseconds after which it returns in any case.
  func wait(atMost limit: Int32) {
    poll.wait(milliseconds: min(limit, pause)) { ready.append($0) }
  }

  /// Lets libcurl work on the sockets that were ready in the last wait, and on what is due.
  func act() {
    var running: Int32 = 0
    for event in ready {
      reading.reset()
      curl_multi_socket_action(multi, event.descriptor, event.actions, &running)
    }
    ready.removeAll(keepingCapacity: true)
    guard let dueAt, dueAt <= .now else { return }
    self.dueAt = nil
    reading.reset()
    curl_multi_socket_action(multi, TRANSFER_SOCKET_TIMEOUT, 0, &running)
  }

  /// The transfers that cannot continue, once.
  func takeRefusals() -> [Refusal] {
    guard !refusals.isEmpty else { return [] }
    defer { refusals = [] }
    return refusals
  }

  /// Milliseconds until libcurl has to be called, rounded up.
  private var pause: Int32 {
    guard let dueAt else { return .max }
    return Int32(clamping: max(0, (ContinuousClock.now.duration(to: dueAt) + .microseconds(999)).wholeMilliseconds))
  }

  // MARK: Called by libcurl

  private static let socketChanged: transfer_socket_callback = { handle, socket, what, context, isWatched in
    let events = Unmanaged<CurlEvents>.fromOpaque(context!).takeUnretainedValue()
    guard what != CURL_POLL_REMOVE else {
      events.poll.forget(socket)
      return 0
    }
    var interest: EventPoll.Interest = []
    if what & CURL_POLL_IN != 0 { interest.insert(.reading) }
    if what & CURL_POLL_OUT != 0 { interest.insert(.writing) }
    Transfer.of(handle!)?.watchedSocket = socket
    let error = events.poll.watch(socket, for: interest, isWatched: isWatched != nil)
    if error != 0 {
      events.refusals.append(Refusal(handle: handle!, error: error))
    } else if isWatched == nil {
      // libcurl passes it with each further change of this socket, until it is removed.
      curl_multi_assign(events.multi, socket, context)
    }
    return 0
  }

  private static let timerChanged: transfer_timer_callback = { _, milliseconds, context in
    Unmanaged<CurlEvents>.fromOpaque(context!).takeUnretainedValue().setTimer(milliseconds)
    return 0
  }

  private func setTimer(_ milliseconds: Int) {
    guard milliseconds >= 0 else {
      dueAt = nil
      return
    }
    // libcurl rounds down, and would find nothing to do a moment too early.
    let isNow = milliseconds == 0
    dueAt = .now + .milliseconds(isNow ? 0 : Int64(milliseconds) + 1)  // checked: libcurl waits for weeks at most
  }
}

extension EventPoll.Event {
  /// As libcurl takes it. With 0 libcurl examines the socket itself, and distinguishes errors better.
  fileprivate var actions: Int32 {
    guard !isFailing else { return 0 }
    var actions: Int32 = 0
    if ready.contains(.reading) { actions |= CURL_CSELECT_IN }
    if ready.contains(.writing) { actions |= CURL_CSELECT_OUT }
    return actions
  }
}

public import Dispatch
import Glibc
import Synchronization

/// Reports whether the network or a host is reachable, and when that changes, from the kernel's own routing decisions
/// (rtnetlink(7)). It does not check whether a server responds.
///
/// It uses two descriptors, and two more and a thread while there is a listener; nothing runs while nothing changes.
/// Changes are reported as soon as the kernel reports them, at most ten times a second.
public final class NetworkReachabilityManager: Sendable {
  /// Called at once with the current status, and then with each status that differs from the last one.
  public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

  /// The reachability of public addresses. `nil` if the kernel has no rtnetlink.
  public static let `default` = NetworkReachabilityManager()

  private let target: ReachabilityTarget
  /// Separate from the notifications: a response on the watched socket would look like a notification and cause the
  /// next request.
  private let questions: NetlinkSocket
  private let news: NetlinkSocket
  /// Requests run one at a time, and results are reported in order.
  private let asking = Mutex(())
  private let state = Mutex(State())

  private struct State {
    var listeners: [Int: (queue: DispatchQueue?, call: Listener)] = [:]
    /// Called after each notification, also if the status stays.
    var changes: [Int: @Sendable () -> Void] = [:]
    var nextListener = 1
    var watch: NetlinkWatch?
    var status: NetworkReachabilityStatus?
    var questions = 0
  }

  /// The listener of `startListening`; streams have other numbers.
  private static let onlyListener = 0

  /// - Returns: `nil` if the kernel has no rtnetlink.
  public convenience init?() { self.init(target: .anywhere) }

  /// - Parameter host: a name or an address. A name is resolved again after each change of the network; a name that
  ///   cannot be resolved is not reachable.
  public convenience init?(host: String) { self.init(target: .host(host)) }

  private init?(target: ReachabilityTarget) {
    guard let questions = NetlinkSocket(), let news = NetlinkSocket() else { return nil }
    (self.questions, self.news) = (questions, news)
    self.target = target
  }

  // MARK: Status

  /// The current status. Blocks while a name is resolved.
  public var status: NetworkReachabilityStatus { asking.withLock { _ in current() } }

  /// Whether a network is reachable, by any interface.
  public var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }
  /// Whether a network is reachable, and only by mobile interfaces (`wwan…`).
  public var isReachableOnCellular: Bool { status == .reachable(.cellular) }
  /// Whether a network is reachable by an interface that is not mobile.
  public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

  /// The number of requests to the kernel; tests check that it is small.
  var questionCount: Int { state.withLock { $0.questions } }

  private func current() -> NetworkReachabilityStatus {
    state.withLock { $0.questions += 1 }
    var paths: [NetworkPath] = []
    for address in target.addresses() {
      guard let path = questions.path(to: address) else { return .unknown }
      paths.append(path)
    }
    return NetworkReachabilityStatus(paths)
  }

  // MARK: Listening

  /// Calls the listener with the current status and after each change; replaces an earlier listener.
  /// - Returns: whether the kernel allows it.
  @discardableResult
  public func startListening(
    onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener
  ) -> Bool {
    add(Self.onlyListener, queue, listener)
  }

  /// Removes the listener of `startListening`; streams continue.
  public func stopListening() { remove(Self.onlyListener) }

  /// The current status and each change. A slow reader gets only the last change.
  public func statuses() -> AsyncStream<NetworkReachabilityStatus> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: NetworkReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      defer { state.nextListener += 1 }
      return state.nextListener
    }
    // The stream retains the manager: it ends when the stream is released.
    continuation.onTermination = { _ in self.remove(number) }
    guard add(number, nil, { continuation.yield($0) }) else {
      continuation.yield(.unknown)
      continuation.finish()
      return stream
    }
    return stream
  }

  /// An element after each change of links, addresses, routes or rules, also of those that do not matter for the status. Unread
  /// elements are merged into one. Ends at once if the kernel does not allow it.
  public func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      defer { state.nextListener += 1 }
      return state.nextListener
    }
    // The stream retains the manager: it ends when the stream is released.
    continuation.onTermination = { _ in self.remove(number) }
    let isWatching = state.withLock { state in
      startWatching(&state)
      if state.watch != nil { state.changes[number] = { continuation.yield() } }
      return state.watch != nil
    }
    if !isWatching { continuation.finish() }
    return stream
  }

  private func add(_ number: Int, _ queue: DispatchQueue?, _ listener: @escaping Listener) -> Bool {
    asking.withLock { _ in
      // Registered together with the watch, which ends with the last listener.
      let isListening = state.withLock { state in
        startWatching(&state)
        if state.watch != nil { state.listeners[number] = (queue, listener) }
        return state.watch != nil
      }
      guard isListening else { return false }
      let status = current()
      let others = state.withLock { state -> [(queue: DispatchQueue?, call: Listener)] in
        defer { state.status = status }
        return state.status == status ? [] : state.listeners.filter { $0.key != number }.map(\.value)
      }
      for other in others + [(queue, listener)] { Self.tell(other, status) }
      return true
    }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.listeners.removeValue(forKey: number)
      state.changes.removeValue(forKey: number)
      guard state.listeners.isEmpty, state.changes.isEmpty else { return }
      state.watch = nil
      state.status = nil
      _ = news.setWatching(false)
    }
  }

  private static func tell(_ listener: (queue: DispatchQueue?, call: Listener), _ status: NetworkReachabilityStatus) {
    let call = listener.call
    if let queue = listener.queue { queue.async { call(status) } } else { call(status) }
  }

  // MARK: News

  private func startWatching(_ state: inout State) {
    guard state.watch == nil else { return }
    state.watch = NetlinkWatch(news, onNews: { [weak self] in self?.update() })
  }

  private func update() {
    for call in state.withLock({ Array($0.changes.values) }) { call() }
    asking.withLock { _ in
      guard state.withLock({ $0.watch != nil && !$0.listeners.isEmpty }) else { return }
      let status = current()
      let listeners = state.withLock { state -> [(queue: DispatchQueue?, call: Listener)] in
        guard state.watch != nil, state.status != status else { return [] }
        state.status = status
        return Array(state.listeners.values)
      }
      for listener in listeners { Self.tell(listener, status) }
    }
  }
}

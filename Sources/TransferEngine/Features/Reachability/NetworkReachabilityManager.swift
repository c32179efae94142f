public import Dispatch
import Glibc
import Synchronization

/// Says whether there is a way to the network or to a host, and tells when that changes. From the kernel's own routing
/// decisions (rtnetlink(7)): whether somebody answers at the end of the way is another question.
///
/// Two descriptors, and two more and a thread while somebody listens; nothing runs while nothing changes. Changes are told as
/// soon as the kernel tells them, a flood of them at most ten times a second.
public final class NetworkReachabilityManager: Sendable {
  /// Called with each status that differs from the one before; the first one at once.
  public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

  /// Reachable: there is a way to addresses that no network of one's own has. `nil` where the kernel has no rtnetlink.
  public static let `default` = NetworkReachabilityManager()

  private let target: ReachabilityTarget
  /// Apart from the news: an answer on the watched socket would be news itself, and bring the next question about.
  private let questions: NetlinkSocket
  private let news: NetlinkSocket
  /// One asks at a time, and tells in the order of the answers.
  private let asking = Mutex(())
  private let state = Mutex(State())

  private struct State {
    var listeners: [Int: (queue: DispatchQueue?, call: Listener)] = [:]
    var nextListener = 1
    var watch: NetlinkWatch?
    var status: NetworkReachabilityStatus?
    var questions = 0
  }

  /// The listener of `startListening`; streams have other numbers.
  private static let onlyListener = 0

  /// - Returns: `nil` where the kernel has no rtnetlink.
  public convenience init?() { self.init(target: .anywhere) }

  /// - Parameter host: a name or an address. A name is looked up each time the network changed; one that cannot be looked
  ///   up is not reachable.
  public convenience init?(host: String) { self.init(target: .host(host)) }

  private init?(target: ReachabilityTarget) {
    guard let questions = NetlinkSocket(), let news = NetlinkSocket() else { return nil }
    (self.questions, self.news) = (questions, news)
    self.target = target
  }

  // MARK: Status

  /// At this moment. Blocks for as long as a name's look-up takes.
  public var status: NetworkReachabilityStatus { asking.withLock { _ in current() } }

  /// Whether some network can be reached, by whatever interface.
  public var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }
  /// Whether a network can be reached, and by mobile interfaces (`wwan…`) alone.
  public var isReachableOnCellular: Bool { status == .reachable(.cellular) }
  /// Whether a network can be reached by anything but mobile interfaces.
  public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

  /// How often the kernel was asked, for tests of how seldom it is.
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

  /// Calls the listener with the status now and whenever it changes, in the place of an earlier listener.
  /// - Returns: whether the kernel lets us listen.
  @discardableResult
  public func startListening(
    onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener
  ) -> Bool {
    add(Self.onlyListener, queue, listener)
  }

  /// Ends what `startListening` began; streams go on.
  public func stopListening() { remove(Self.onlyListener) }

  /// The status now and whenever it changes. Of changes that come faster than they are read, the last one.
  public func statuses() -> AsyncStream<NetworkReachabilityStatus> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: NetworkReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      defer { state.nextListener += 1 }
      return state.nextListener
    }
    // The stream keeps the manager: it ends when nobody reads it any more.
    continuation.onTermination = { _ in self.remove(number) }
    guard add(number, nil, { continuation.yield($0) }) else {
      continuation.yield(.unknown)
      continuation.finish()
      return stream
    }
    return stream
  }

  private func add(_ number: Int, _ queue: DispatchQueue?, _ listener: @escaping Listener) -> Bool {
    asking.withLock { _ in
      // At once with the watch, which would end with the last of the others.
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
      guard state.listeners.isEmpty else { return }
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
    asking.withLock { _ in
      guard state.withLock({ $0.watch != nil }) else { return }
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

/// Where there has to be a way to.
enum ReachabilityTarget: Sendable {
  case anywhere
  case host(String)

  /// Addresses of 4 or 16 bytes; empty where a name cannot be looked up.
  func addresses() -> [[UInt8]] {
    switch self {
    // Of the networks for documentation (RFC 5737, RFC 9637), which nobody has at home: the way to them is the default one,
    // or what a tunnel puts in its place.
    case .anywhere: [[198, 51, 100, 1], [0x3F, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]
    case .host(let host): Self.lookUp(host)
    }
  }

  private static func lookUp(_ host: String) -> [[UInt8]] {
    var host = host[...]
    if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(String(host), nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var addresses: [[UInt8]] = []
    var entry = list
    while let current = entry?.pointee {
      switch current.ai_family {
      case AF_INET:
        current.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          addresses.append(withUnsafeBytes(of: address.pointee.sin_addr, Array.init))
        }
      case AF_INET6:
        current.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
          addresses.append(withUnsafeBytes(of: address.pointee.sin6_addr, Array.init))
        }
      default: break
      }
      entry = current.ai_next
    }
    return addresses
  }
}

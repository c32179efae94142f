import Glibc
import Synchronization

/// A TCP proxy on the loopback interface that drops connections: a fault for protocols without a scriptable server.
public final class DroppingProxy: Sendable {
  /// The fault of one connection.
  public struct Rule: Sendable {
    /// Drops both sides after this many bytes to the client; `nil`: never.
    public var cutAfterSent: Int64?
    /// Drops both sides after this many bytes from the client; `nil`: never.
    public var cutAfterReceived: Int64?
    /// Stops forwarding instead, and keeps both sides open.
    public var isSilent = false

    public init(cutAfterSent: Int64? = nil, cutAfterReceived: Int64? = nil, isSilent: Bool = false) {
      self.cutAfterSent = cutAfterSent
      self.cutAfterReceived = cutAfterReceived
      self.isSilent = isSilent
    }

    public static let pass = Rule()
  }

  public struct Connection: Sendable {
    /// The number of bytes to the client.
    public var sent: Int64 = 0
    /// The number of bytes from the client.
    public var received: Int64 = 0
    public var isOpen = true
  }

  public let port: UInt16
  /// The traffic of each connection, in the order of their arrival.
  public let connections = Watched<[Connection]>([])
  private let core: Core

  /// - Parameters:
  ///   - target: the port of 127.0.0.1 behind the proxy.
  ///   - rule: returns the fault of the connection with this number, from 0.
  public init(to target: UInt16, rule: @escaping @Sendable (Int) -> Rule = { _ in .pass }) throws {
    let (listener, port) = try listenOnLoopback()
    self.port = port
    core = Core(listener: listener, target: target, rule: rule, connections: connections)
    startThread { [core] in core.accept() }
  }

  deinit { core.stop() }

  /// Drops all open connections.
  public func cutAll() { core.cutAll() }
}

private final class Core: Sendable {
  struct Open: Sendable {
    var sockets: Set<Int32> = []
    var isStopped = false
  }

  let listener: Int32
  let target: UInt16
  let rule: @Sendable (Int) -> DroppingProxy.Rule
  let connections: Watched<[DroppingProxy.Connection]>
  let open = Mutex(Open())

  init(
    listener: Int32, target: UInt16, rule: @escaping @Sendable (Int) -> DroppingProxy.Rule,
    connections: Watched<[DroppingProxy.Connection]>
  ) {
    self.listener = listener
    self.target = target
    self.rule = rule
    self.connections = connections
  }

  func accept() {
    while true {
      let client = GNU.accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
      if client < 0, errno == EINTR || errno == ECONNABORTED { continue }
      guard client >= 0, let server = connect() else {
        if client >= 0 { close(client) }
        if open.withLock({ $0.isStopped }) { break }
        if client < 0 { break }
        continue
      }
      let mayGoOn = open.withLock { open in
        if !open.isStopped { open.sockets.formUnion([client, server]) }
        return !open.isStopped
      }
      guard mayGoOn else {
        close(client)
        close(server)
        break
      }
      let number = connections.mutate { connections in
        connections.append(.init())
        return connections.count - 1
      }
      startThread { self.serve(client, server, number) }
    }
    close(listener)
  }

  func stop() {
    open.withLock { $0.isStopped = true }
    shutdown(listener, Int32(SHUT_RDWR))
    cutAll()
  }

  func cutAll() {
    open.withLock { open in for socket in open.sockets { shutdown(socket, Int32(SHUT_RDWR)) } }
  }

  private func connect() -> Int32? {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    guard withLoopbackAddress(target, { Glibc.connect(descriptor, $0, $1.pointee) }) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  private func serve(_ client: Int32, _ server: Int32, _ number: Int) {
    let rule = rule(number)
    var on: Int32 = 1
    for socket in [client, server] { setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4) }
    var buffer = [UInt8](repeating: 0, count: 32 * 1024)
    var (sent, received): (Int64, Int64) = (0, 0)
    while true {
      let events = poll([(client, POLLIN), (server, POLLIN)])
      if events[0] != 0 {
        guard let count = move(from: client, to: server, &buffer, rule.cutAfterReceived.map { $0 - received }) else {
          break
        }
        received += count
      }
      if events[1] != 0 {
        guard let count = move(from: server, to: client, &buffer, rule.cutAfterSent.map { $0 - sent }) else { break }
        sent += count
      }
      let (sentNow, receivedNow) = (sent, received)
      connections.mutate {
        $0[number].sent = sentNow; $0[number].received = receivedNow
      }
      guard sent >= rule.cutAfterSent ?? .max || received >= rule.cutAfterReceived ?? .max else { continue }
      // Stay silent until the client disconnects or the proxy ends.
      if rule.isSilent { _ = poll([(client, 0x2000)]) }
      break
    }
    // Closing with unread bytes would send RST, and the client would lose bytes in transit.
    shutdown(client, Int32(SHUT_WR))
    for _ in 0..<100_000 where poll([(client, POLLIN)], milliseconds: 2000)[0] != 0 {
      guard recv(client, &buffer, buffer.count, 0) > 0 else { break }
    }
    open.withLock { open in
      open.sockets.subtract([client, server])
      close(client)
      close(server)
    }
    connections.mutate { $0[number].isOpen = false }
  }

  /// The number of forwarded bytes; `nil` at the end of either side.
  private func move(from source: Int32, to target: Int32, _ buffer: inout [UInt8], _ limit: Int64?) -> Int64? {
    let wanted = min(Int64(buffer.count), limit ?? .max)
    guard wanted > 0 else { return nil }
    let count = recv(source, &buffer, Int(wanted), 0)
    guard count > 0 else { return nil }
    var done = 0
    while done < count {
      let written = buffer.withUnsafeBytes { send(target, $0.baseAddress! + done, count - done, Int32(MSG_NOSIGNAL)) }
      guard written > 0 else { return nil }
      done += written
    }
    return Int64(count)
  }
}

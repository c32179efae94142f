import Foundation
import Glibc
import Synchronization

/// The state that the threads of a loopback server share. Only tests retain the server itself, so that it is released.
final class ServerCore: Sendable {
  struct Records: Sendable {
    var requests: [ServedRequest] = []
    var counters = LoopbackServer.Counters()
  }

  fileprivate struct Open {
    var sockets: [Int32: ClientSocket] = [:]
    var isStopped = false
  }

  let bodies: LoopbackServer.BodyReading
  let handler: LoopbackServer.Handler
  let port: UInt16
  let records = Watched(Records())
  let released = Gate()
  private let listener: Int32
  private let wakeup: Wakeup
  private let open = Mutex(Open())
  private let threads = DispatchGroup()

  init(bodies: LoopbackServer.BodyReading, handler: @escaping LoopbackServer.Handler) throws {
    self.bodies = bodies
    self.handler = handler
    wakeup = try Wakeup()
    (listener, port) = try listenOnLoopback()
    threads.enter()
  }

  /// Accepts connections until the server stops; the body of the accepting thread.
  func accept() {
    defer {
      close(listener)
      threads.leave()
    }
    while true {
      let isFull = open.withLock { $0.sockets.count >= LoopbackServer.connectionLimit }
      let wanted = [(wakeup.descriptor, POLLIN), (listener, POLLIN)]
      let events = poll(isFull ? [wanted[0]] : wanted)
      if events[0] != 0 { wakeup.clear() }
      if open.withLock({ $0.isStopped }) { return }
      guard !isFull, events[1] != 0 else { continue }
      let descriptor = GNU.accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
      guard descriptor >= 0 else { continue }
      serve(descriptor)
    }
  }

  private func serve(_ descriptor: Int32) {
    guard let socket = try? ClientSocket(descriptor) else {
      close(descriptor)
      return
    }
    guard open.withLock({ $0.add(socket) }) else { return socket.reset() }
    let number = records.mutate { records in
      records.counters.connections += 1
      records.counters.openConnections += 1
      records.counters.maxOpenConnections = max(
        records.counters.maxOpenConnections, records.counters.openConnections)
      return records.counters.connections - 1
    }
    threads.enter()
    startThread { [self] in
      ServedConnection(number: number, socket: socket, core: self).run()
      // The descriptor may already belong to a newer connection.
      open.withLock { if $0.sockets[descriptor] === socket { $0.sockets[descriptor] = nil } }
      records.mutate { $0.counters.openConnections -= 1 }
      wakeup.signal()
      threads.leave()
    }
  }

  func stop() {
    let sockets = open.withLock { open in
      open.isStopped = true
      return Array(open.sockets.values)
    }
    wakeup.signal()
    for socket in sockets { socket.shutDown() }
    threads.wait()
  }
}

extension ServerCore.Open {
  /// Registers a socket to be shut down at the stop; returns `false` if the server has already stopped.
  fileprivate mutating func add(_ socket: ClientSocket) -> Bool {
    guard !isStopped else { return false }
    sockets[socket.descriptor] = socket
    return true
  }
}

/// Opens a listening socket on 127.0.0.1 at a port the kernel chooses.
func listenOnLoopback() throws -> (descriptor: Int32, port: UInt16) {
  let bound = try bindToLoopback()
  try checked("listen", listen(bound.descriptor, 1024))
  return bound
}

/// A socket that is bound to a free port and does not listen yet.
func bindToLoopback() throws -> (descriptor: Int32, port: UInt16) {
  let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  let descriptor = try checked("make a socket", socket(AF_INET, kind, 0))
  return try withLoopbackAddress(0) { address, length in
    try checked("bind a socket", bind(descriptor, address, length.pointee))
    try checked("read a socket's name", getsockname(descriptor, address, length))
    let port = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port }
    return (descriptor, UInt16(bigEndian: port))
  }
}

/// Calls a function with the address of a port on 127.0.0.1.
func withLoopbackAddress<Result>(
  _ port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) throws -> Result
) rethrows -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  return try withUnsafeMutablePointer(to: &address) { pointer in
    try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, &length) }
  }
}

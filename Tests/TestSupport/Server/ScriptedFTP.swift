import Foundation
import Glibc
import Synchronization

/// A small FTP server (RFC 959, RFC 3659) that serves one file for reading. It is correct unless a test replaces some
/// replies. One thread per connection.
public final class ScriptedFTP: Sendable {
  /// Returns another reply to a command; `nil` is the correct one. The number counts the commands from 0.
  public typealias Fault = @Sendable (_ command: String, _ argument: String, _ number: Int) -> Change?

  public enum Change: Sendable {
    /// These bytes instead of the reply; `nil` bytes end the connection.
    case reply(Data?)
    /// `RETR`: the first reply, then this many bytes of the file from its offset, then the last reply (`nil`: the connection
    /// ends without one).
    case transfer(opening: Data, bytes: Int64, closing: Data?)
  }

  public let file: Payload
  public let port: UInt16
  private let fault: Fault
  private let listener: Int32
  private let wakeup: Wakeup
  private let state = Mutex(State())

  private struct State {
    var sockets: [ObjectIdentifier: ClientSocket] = [:]
    var isStopped = false
    var commands: [String] = []
  }

  public init(_ file: Payload, fault: @escaping Fault = { _, _, _ in nil }) throws {
    self.file = file
    self.fault = fault
    wakeup = try Wakeup()
    (listener, port) = try listenOnLoopback()
    let (listener, wakeup) = (listener, wakeup)
    startThread { [weak self] in
      while true {
        let events = poll([(wakeup.descriptor, POLLIN), (listener, POLLIN)])
        guard events[0] == 0, let self else { break }
        let descriptor = GNU.accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
        if descriptor >= 0 { self.serve(descriptor) }
      }
      close(listener)
    }
  }

  deinit { stop() }

  public func url(_ path: String) -> String { "ftp://127.0.0.1:\(port)\(path)" }

  /// The received commands with their arguments.
  public var commands: [String] { state.withLock { $0.commands } }

  public func stop() {
    let sockets = state.withLock { state in
      state.isStopped = true
      return Array(state.sockets.values)
    }
    wakeup.signal()
    for socket in sockets { socket.shutDown() }
  }

  private func serve(_ descriptor: Int32) {
    guard let socket = try? ClientSocket(descriptor) else {
      close(descriptor)
      return
    }
    let isStopped = state.withLock { state in
      state.sockets[ObjectIdentifier(socket)] = socket
      return state.isStopped
    }
    guard !isStopped else { return socket.finish() }
    let core = Dialogue(socket: socket, file: file) { [weak self] command, argument in
      guard let self else { return .reply(nil) }
      let number = self.state.withLock { state in
        state.commands.append(argument.isEmpty ? command : "\(command) \(argument)")
        return state.commands.count - 1
      }
      return self.fault(command, argument, number)
    }
    startThread { [weak self] in
      core.run()
      _ = self?.state.withLock { $0.sockets.removeValue(forKey: ObjectIdentifier(socket)) }
    }
  }
}

/// One control connection, on its own thread.
private final class Dialogue: @unchecked Sendable {  // everything but the socket's end belongs to the thread
  private let socket: ClientSocket
  private let file: Payload
  private let change: (_ command: String, _ argument: String) -> ScriptedFTP.Change?
  private var passive: Int32 = -1
  private var offset: Int64 = 0

  init(
    socket: ClientSocket, file: Payload,
    change: @escaping @Sendable (_ command: String, _ argument: String) -> ScriptedFTP.Change?
  ) {
    self.socket = socket
    self.file = file
    self.change = change
  }

  func run() {
    defer {
      socket.finish()
      if passive >= 0 { close(passive) }
    }
    do {
      guard try answer("GREETING", "") else { return }
      while true {
        let line = try socket.readLine()
        let words = line.split(separator: " ", maxSplits: 1)
        guard let command = words.first?.uppercased() else { continue }
        guard try answer(command, words.count > 1 ? String(words[1]) : ""), command != "QUIT" else { return }
      }
    } catch {}
  }

  /// Returns `false` if the connection ends.
  private func answer(_ command: String, _ argument: String) throws -> Bool {
    switch change(command, argument) {
    case .reply(let data?): try socket.write(data)
    case .reply(nil): return false
    case .transfer(let opening, let bytes, let closing):
      try transfer(opening, offset..<min(max(offset, offset &+ bytes), max(offset, file.size)))
      guard let closing else { return false }
      try socket.write(closing)
    case nil: try perform(command, argument)
    }
    return true
  }

  private func perform(_ command: String, _ argument: String) throws {
    switch command {
    case "GREETING": try say("220 ready")
    case "USER": try say("331 password")
    case "PASS": try say("230 welcome")
    case "PWD": try say("257 \"/\"")
    case "TYPE", "CWD", "NOOP": try say("200 fine")
    case "SIZE": try say("213 \(file.size)")
    case "MDTM": try say("213 20240101000000")
    case "REST":
      offset = Int64(argument) ?? 0
      try say("350 from \(offset)")
    case "EPSV", "PASV": try openPassive(command)
    case "RETR":
      let start = min(max(0, offset), file.size)
      try transfer(Data("150 opening (\(file.size - start) bytes)\r\n".utf8), start..<file.size)
      try say("226 done")
    case "QUIT": try say("221 bye")
    default: try say("502 unknown")
    }
  }

  private func say(_ line: String) throws { try socket.write(Data("\(line)\r\n".utf8)) }

  private func openPassive(_ command: String) throws {
    if passive >= 0 { close(passive) }
    let (descriptor, port) = try listenOnLoopback()
    passive = descriptor
    try say(
      command == "EPSV"
        ? "229 extended (|||\(port)|)" : "227 passive (127,0,0,1,\(port / 256),\(port % 256))")
  }

  /// The first reply, then bytes on the data connection, if one was opened.
  private func transfer(_ opening: Data, _ range: Range<Int64>) throws {
    guard passive >= 0 else { return try say("425 no data connection") }
    defer {
      close(passive)
      passive = -1
      offset = 0
    }
    guard poll([(passive, POLLIN)], milliseconds: 2000)[0] != 0 else { return }
    let descriptor = GNU.accept4(passive, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
    guard descriptor >= 0 else { return }
    let data = try ClientSocket(descriptor)
    defer { data.finish() }
    try socket.write(opening)
    let start = min(max(0, range.lowerBound), file.size)
    let whole = start..<max(start, min(range.upperBound, file.size))
    for piece in whole.pieces(of: 1 << 16) {
      // A client that has enough bytes closes its end.
      do { try data.write(file.bytes(piece)) } catch { return }
    }
  }
}

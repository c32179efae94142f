import FoundationEssentials
import Glibc
import TransferAPI

/// Sends standard input to the daemon in pieces, and continues after a restart of the daemon.
struct SpoolFeed {
  private(set) var client: ControlClient
  let connection: Connection
  let token: String

  /// Number of times a piece is sent; a daemon that has just started may respond slowly.
  private static let attempts = 5

  private var path: String { "/v1/spool/\(token)" }

  /// Asks the daemon to create a spool file. If the response is lost, the daemon deletes the unused file later.
  init(_ name: String, client: ControlClient, connection: Connection) async throws {
    // checked: a constant of this program
    (token, self.client) = try await Self.begin(name, client, connection, attemptsLeft: Self.attempts - 1)
    self.connection = connection
  }

  private static func begin(
    _ name: String, _ client: ControlClient, _ connection: Connection, attemptsLeft: Int
  ) async throws -> (String, ControlClient) {
    do {
      let spool: Spool = try await client.post(ControlClient.path("/v1/spool", [("name", name)]), nil)
      return (spool.token, client)
    } catch ControlError.unreachable where attemptsLeft > 0 {
      return try await begin(
        name, try await connection.reopen(client.socket), connection, attemptsLeft: attemptsLeft - 1)
    }
  }

  /// Sends standard input to its end.
  /// - Parameter pieces: bytes in a piece.
  /// - Returns: the number of bytes sent.
  mutating func fill(pieces: Int) async throws -> Int64 {
    var offset: Int64 = 0
    var buffer = [UInt8](repeating: 0, count: pieces)
    while true {
      let count = try Self.read(&buffer)
      guard count > 0 else { return offset }
      try await send(Data(buffer[..<count]), at: offset)
      offset += Int64(count)  // checked: bytes that were read
    }
  }

  /// A repeated piece overwrites itself, so a lost response does no harm.
  private mutating func send(_ piece: Data, at offset: Int64) async throws {
    for isLast in Array(repeating: false, count: Self.attempts - 1) + [true] {  // checked: a constant of this program
      do {
        let (status, response) = try await client.transport.send(
          "PUT", ControlClient.path(path, [("offset", String(offset))]), body: piece,
          contentType: "application/octet-stream")
        guard (200..<300).contains(status) else { throw ControlClient.refusal(status: status, body: response) }
        return
      } catch ControlError.unreachable where !isLast {
        client = try await connection.reopen(client.socket)
      }
    }
  }

  /// Deletes the spool file, which no job will use.
  func discard() async {
    _ = try? await client.transport.send("DELETE", path, body: nil, contentType: nil)
  }

  /// Waits with a limit: a pipe may be silent for hours, and a Ctrl-C may be delivered to another thread.
  private static func isReadable(within milliseconds: Int32) -> Bool {
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, milliseconds) != 0
  }

  /// Fills the buffer, unless the input ends first.
  private static func read(_ buffer: inout [UInt8]) throws -> Int {
    var filled = 0
    while filled < buffer.count {
      try Interrupt.check()
      guard isReadable(within: 250) else { continue }
      let count = buffer.withUnsafeMutableBytes {
        Glibc.read(STDIN_FILENO, $0.baseAddress! + filled, $0.count - filled)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw CommandFailure(.failed, "cannot read standard input: \(String(cString: strerror(errno)))")
      }
      guard count > 0 else { break }
      filled += count
    }
    return filled
  }
}

import FoundationEssentials
import Glibc
import TransferAPI

/// `upload -`: what comes by standard input is stored by the daemon, and is on the disk before the job's id is printed.
struct StandardInputUpload {
  private let name: String
  private let plan: UploadPlan
  private let command: Upload

  /// Bytes of one request.
  private static let pieceBytes = 1 << 20

  init(_ name: String, _ plan: UploadPlan, _ command: Upload) {
    self.name = name
    self.plan = plan
    self.command = command
  }

  func run() async throws {
    guard !plan.needsDigest else {
      throw CommandFailure(.usage, "{sha256} is not known before standard input has ended")
    }
    // A wrong URL is said before somebody's dump is read.
    _ = try plan.job(for: file(bytes: 0))
    try Output.standard.requireOpen()
    let connection = try command.daemon.connection()
    let client = try await connection.open()
    var pending: SpoolFeed?
    do {
      // Half a dump is of no use, and may be large: it does not stay.
      let (bytes, feed) = try await Interrupt.whileDeferred { [name] in
        var feed = try await SpoolFeed(name, client: client, connection: connection)
        do {
          let bytes = try await feed.fill(pieces: Self.pieceBytes)
          try Interrupt.check()
          return (bytes, feed)
        } catch {
          await feed.discard()
          throw error
        }
      }
      pending = feed
      var job = try plan.job(for: file(bytes: bytes))
      job.source = ""
      job.spool = feed.token
      var lines = JobLines()
      lines.take(.path(name)) { _ in job }
      // From here on it may be a job's.
      pending = nil
      let outcome: Submission
      do {
        outcome = try await Submission.send(lines, alone: true, from: feed.client, over: connection)
      } catch let refusal as Problem {
        await feed.discard()
        throw refusal
      }
      // A key named an earlier job; what our own has the daemon keeps.
      if outcome.hasExisting { await feed.discard() }
      try await command.finish(outcome, nil, connection)
    } catch {
      if let pending { await pending.discard() }
      if error is CancellationError { throw CommandFailure(.interrupted, "interrupted; nothing was added") }
      throw error
    }
  }

  private func file(bytes: Int64) -> UploadedFile {
    let now = Date().timeIntervalSince1970
    return UploadedFile(
      path: name, relativePath: name, size: bytes, modifiedSeconds: Int64(now), modifiedNanoseconds: 0)
  }
}

/// Brings standard input to the daemon, piece by piece; goes on where the daemon is when it was restarted meanwhile.
struct SpoolFeed {
  private(set) var client: ControlClient
  let connection: Connection
  let token: String

  /// For one piece: a daemon that has only just started may be slow to answer.
  private static let tries = 5

  private var path: String { "/v1/spool/\(token)" }

  /// Asks the daemon for a file. One whose name was lost with its answer is nobody's, and is swept away after a while.
  init(_ name: String, client: ControlClient, connection: Connection) async throws {
    // checked: a constant of this program
    (token, self.client) = try await Self.begin(name, client, connection, triesLeft: Self.tries - 1)
    self.connection = connection
  }

  private static func begin(
    _ name: String, _ client: ControlClient, _ connection: Connection, triesLeft: Int
  ) async throws -> (String, ControlClient) {
    do {
      let spool: Spool = try await client.post(ControlClient.path("/v1/spool", [("name", name)]), nil)
      return (spool.token, client)
    } catch ControlError.unreachable where triesLeft > 0 {
      return try await begin(name, try await connection.reopen(client.socket), connection, triesLeft: triesLeft - 1)
    }
  }

  /// - Returns: how many bytes came.
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

  /// The same piece again is written over itself, so a lost answer does no harm.
  private mutating func send(_ piece: Data, at offset: Int64) async throws {
    for isLast in Array(repeating: false, count: Self.tries - 1) + [true] {  // checked: a constant of this program
      do {
        let (status, answer) = try await client.transport.send(
          "PUT", ControlClient.path(path, [("offset", String(offset))]), body: piece,
          contentType: "application/octet-stream")
        guard (200..<300).contains(status) else { throw ControlClient.refusal(status: status, body: answer) }
        return
      } catch ControlError.unreachable where !isLast {
        client = try await connection.reopen(client.socket)
      }
    }
  }

  /// Nobody will ask for it.
  func discard() async {
    _ = try? await client.transport.send("DELETE", path, body: nil, contentType: nil)
  }

  /// A pipe may be silent for hours; a Ctrl-C is heard all the same, on whatever thread it comes.
  private static func isReadable(within milliseconds: Int32) -> Bool {
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, milliseconds) != 0
  }

  /// As much as the buffer takes, but for the last piece.
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

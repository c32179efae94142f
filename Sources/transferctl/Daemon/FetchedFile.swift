import FoundationEssentials
import Glibc
import TransferAPI
import WireValues

/// A small file at an http or https URL that a command needs, such as a list of checksums. The daemon fetches it, because
/// `transferctl` makes no requests of its own: a download of highest priority into a temporary place is added, awaited, and
/// removed together with its file, also after Ctrl-C.
struct FetchedFile {
  let url: String
  /// What the file is, for messages: `the checksums`.
  let purpose: String
  let maximumBytes: Int
  /// The way to the server and the timeouts. Header fields and credentials are not sent: they may be for another server.
  let options: JobOptions
  /// Where the daemon can write if it does not share the directory for temporary files: that of the downloads.
  let directory: String

  /// A list that cannot be fetched by then is given up.
  private static let patience = 600.0
  private static let attempts = 5
  private static let polls: (first: Duration, longest: Duration) = (.milliseconds(20), .milliseconds(500))

  /// Whether the argument is a URL and not the path of a file.
  static func isURL(_ text: String) -> Bool {
    let lowercased = text.lowercased()
    return lowercased.hasPrefix("http://") || lowercased.hasPrefix("https://")
  }

  /// - Throws: `CommandFailure` that says why the file cannot be fetched, and `interrupted` after Ctrl-C.
  func bytes(over connection: Connection, from client: ControlClient) async throws -> [UInt8] {
    do {
      try Syntax.check(url: url)
      return try await Interrupt.whileDeferred { try await fetch(connection, client) }
    } catch is CancellationError {
      throw CommandFailure(.interrupted, "interrupted; nothing was added")
    }
  }

  private func fetch(_ connection: Connection, _ client: ControlClient) async throws -> [UInt8] {
    let scratch = try ScratchDirectory()
    do {
      let bytes = try await fetch(to: scratch.path + "/file", connection, client)
      scratch.remove()
      return bytes
    } catch let problem as Problem where [.destinationMissing, .permission].contains(problem.code) {
      // The system's daemon has a /tmp of its own, and may write into few directories.
      scratch.remove()
      let name = ".transferctl-" + String(UInt64.random(in: 0 ... .max), radix: 16)
      return try await fetch(to: directory.appendingName(name), mode: "0644", connection, client)
    } catch {
      scratch.remove()
      throw error
    }
  }

  private func fetch(
    to path: String, mode: String = "0600", _ connection: Connection, _ client: ControlClient
  ) async throws -> [UInt8] {
    defer { unlink(path) }
    let added: AddResult
    do {
      added = try await client.post("/v1/jobs", job(to: path, mode: mode))
    } catch let problem as Problem where ![.destinationMissing, .permission].contains(problem.code) {
      throw failure(problem.text.namingOptions, ExitStatus(problem.code))
    }
    guard let id = added.id else { throw ControlError.unexpected("the response of transferd has no id") }
    var last = client
    do {
      try await wait(for: id, connection, &last)
    } catch {
      await Self.remove(id, last)
      throw error
    }
    await Self.remove(id, last)
    return try read(path)
  }

  private func job(to path: String, mode: String) -> NewJob {
    var job = NewJob(source: url)
    job.destination = path
    job.priority = 1000
    job.options.network = options.network
    job.options.network.cookies = nil
    job.options.network.retryStatus = []
    job.options.userAgent = options.userAgent
    job.options.connectTimeout = options.connectTimeout
    job.options.stallTimeout = options.stallTimeout
    job.options.maxAttempts = options.maxAttempts ?? Self.attempts
    job.options.schedule.deadline = Date().addingTimeInterval(Self.patience)
    job.options.download.maxSize = Int64(maximumBytes)
    job.options.download.mode = mode
    return job
  }

  /// - Throws: `CommandFailure` unless the job has completed, `CancellationError` after Ctrl-C.
  private func wait(for id: JobID, _ connection: Connection, _ client: inout ControlClient) async throws {
    var pause = Self.polls.first
    while true {
      try Interrupt.check()
      do {
        let job = try await client.job(id).job
        switch job.state {
        case .completed: return
        case .failed, .cancelled: throw failure(job.error?.text ?? "it was cancelled")
        case .queued, .running, .retrying, .paused: break
        }
      } catch ControlError.unreachable {
        client = try await connection.reopen(client.socket)
      } catch let problem as Problem {
        throw failure("its job \(id): \(problem.detail)")
      }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, Self.polls.longest)
    }
  }

  /// Deletes the job. A job that still runs is cancelled, and its part file is deleted.
  private static func remove(_ id: JobID, _ client: ControlClient) async {
    _ = try? await client.transport.send("DELETE", "/v1/jobs/\(id)", body: nil, contentType: nil)
  }

  private func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    do {
      return try InputFile.bytes(of: descriptor, path, limit: maximumBytes)
    } catch {
      throw failure(error.message ?? "it cannot be read")
    }
  }

  private func failure(_ reason: String, _ status: ExitStatus = .failed) -> CommandFailure {
    CommandFailure(status, "cannot fetch \(purpose) from \(Secrets.redacting(url: url)): \(reason); nothing was added")
  }
}

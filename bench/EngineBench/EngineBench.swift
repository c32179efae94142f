import FoundationEssentials
import Glibc
import HTTPTypes
import TransferEngine

/// Does the same as `bench/multi.c` with `TransferEngine`, and measures memory:
///
///     engine-bench get COUNT PARALLEL PREFIX   COUNT requests of PREFIX000000, …, PARALLEL at once, bodies in memory
///     engine-bench downloads COUNT PARALLEL PREFIX DIRECTORY   the same into files, durably, as one group
///     engine-bench download URL FILE           one body into a file
///     engine-bench upload FILE URL             one file as the body of a PUT
///     engine-bench form FILE URL               the file as a part of a multipart form
///     engine-bench stream URL [MICROSECONDS]   one body piece by piece, the reader waits after each
///
/// `--memory` as the last word prints the peak of resident memory (VmHWM, proc_pid_status(5)) above that of one small
/// request, in KiB, on standard output. Exits with 1 if a transfer fails, and with 64 for wrong arguments.
@main
enum EngineBench {
  static func main() async {
    var words = Array(CommandLine.arguments.dropFirst())
    let showsMemory = words.last == "--memory"
    if showsMemory { words.removeLast() }
    do {
      let session = Session()
      let idle = showsMemory ? try await peakOfSmallRequest(session, words) : 0
      try await run(words, session)
      if showsMemory { print(try peakKiB() - idle) }
    } catch let usage as Usage {
      complain(usage.description)
      exit(64)
    } catch {
      complain("engine-bench: \(error)")
      exit(1)
    }
  }

  private static func run(_ words: [String], _ session: Session) async throws {
    switch words.first {
    case "get" where words.count == 4:
      guard let count = Int(words[1]), let parallel = Int(words[2]), count > 0, parallel > 0 else { throw Usage() }
      try await get(session, count, parallel, words[3])
    case "downloads" where words.count == 5:
      guard let count = Int(words[1]), let parallel = Int(words[2]), count > 0, parallel > 0 else { throw Usage() }
      try await downloads(session, count, parallel, words[3], words[4])
    case "download" where words.count == 3:
      let path = URL(fileURLWithPath: words[2])
      _ = try await session.download(words[1], to: { _, _ in (path, .removePreviousFile) }).validate()
        .serializingFile().value
    case "upload" where words.count == 3:
      try await finish(session.upload(URL(fileURLWithPath: words[1]), to: words[2], method: .put))
    case "form" where words.count == 3:
      let file = URL(fileURLWithPath: words[1])
      try await finish(session.upload(multipartFormData: { $0.append(file, withName: "file") }, to: words[2]))
    case "stream" where words.count == 2 || words.count == 3:
      try await stream(session, words[1], rest: words.count == 3 ? Int(words[2]) ?? 0 : 0)
    default: throw Usage()
    }
  }

  /// The response's body may be empty.
  private static func finish(_ request: UploadRequest) async throws {
    if let error = await request.validate().response().error { throw error }
  }

  /// Each of `parallel` tasks gets an equal share of the numbers.
  private static func get(_ session: Session, _ count: Int, _ parallel: Int, _ prefix: String) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in 0..<min(parallel, count) {
        group.addTask {
          for number in stride(from: first, to: count, by: parallel) {
            _ = try await session.request(prefix + digits(number)).validate().serializingData().value
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// At least six digits.
  private static func digits(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  private static func downloads(
    _ session: Session, _ count: Int, _ parallel: Int, _ prefix: String, _ directory: String
  ) async throws {
    let group = session.downloads(
      (0..<count).map { (prefix + digits($0), to: DownloadDestination(directory: directory, name: digits($0))) },
      maximumConnections: parallel)
    for await outcomes in group {
      for outcome in outcomes { _ = try outcome.response.result.get() }
    }
  }

  private static func stream(_ session: Session, _ url: String, rest: Int) async throws {
    var count: Int64 = 0
    for try await piece in session.streamRequest(url).validate().streamingData() {
      count += Int64(piece.count)
      if rest > 0 { try await Task.sleep(for: .microseconds(rest)) }
    }
    complain("\(count) bytes")
  }

  // MARK: Memory

  /// Sets up the session, its thread, a connection and libcurl's buffers before the large transfer.
  private static func peakOfSmallRequest(_ session: Session, _ words: [String]) async throws -> Int {
    guard let url = words.first(where: { $0.hasPrefix("http://") }) else { throw Usage() }
    _ = await session.request(url, method: .head).serializingData().response
    return try peakKiB()
  }

  private static func peakKiB() throws -> Int {
    let status = try String(contentsOf: URL(fileURLWithPath: "/proc/self/status"), encoding: .utf8)
    for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      if words.count > 1, let kib = Int(words[1]) { return kib }
    }
    throw Usage()
  }
}

struct Usage: Error, CustomStringConvertible {
  var description: String {
    """
    usage: engine-bench get COUNT PARALLEL PREFIX | downloads COUNT PARALLEL PREFIX DIRECTORY | download URL FILE | upload FILE URL | form FILE URL
                        | stream URL [MICROSECONDS]   [--memory]
    """
  }
}

/// Writes a line to standard error.
func complain(_ text: String) {
  let line = text + "\n"
  _ = write(STDERR_FILENO, line, line.utf8.count)
}

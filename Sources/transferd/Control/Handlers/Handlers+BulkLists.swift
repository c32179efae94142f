import HTTPServer
import NIOCore
import Store
import TransferAPI

extension Handlers {
  /// Adds the jobs of a list of URLs or paths. The response has runs of added lines, and a line for each line that has
  /// an error, a warning or an existing job.
  ///
  /// Three tasks work at the same time: one reads the body, one checks groups of up to 1,000 jobs, one stores them.
  /// - Throws: `Problem` for common options that cannot be used.
  static func addList(
    _ format: BulkFormat, _ options: NewJob, _ request: ControlRequest, _ daemon: DaemonServices
  ) async throws -> Response {
    let (caller, request) = (request.caller, request.request)
    let checker = try await ListChecker(format, options, daemon.intake, caller)
    return Reply.lines { writer in
      let pieces = BoundedQueue<ListCutter.Piece>(limit: maximumPieceBytesInQueue) { $0.weight }
      let groups = BoundedQueue<CheckedLines>(limit: maximumCheckedBytes) { $0.weight }
      let responses = ResponseMemory.queue(for: request)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          do {
            try await cut(request, format, into: pieces)
          } catch {
            // The client has gone: lines that are not stored yet are dropped.
            pieces.abandon()
            throw error
          }
        }
        group.addTask {
          defer { groups.finish() }
          var checker = checker
          while case let taken = await pieces.next(upTo: piecesAtOnce), !taken.isEmpty {
            for lines in await checker.groups(of: taken) { try await groups.append(CollectionOfOne(lines)) }
          }
        }
        group.addTask {
          defer { responses.finish() }
          while let lines = await groups.next(upTo: 1).first {
            let results = await daemon.intake.add(lines.jobs, from: caller)
            var added = AddedLines()
            for (number, result) in zip(lines.numbers, results) { try added.append(result, line: number) }
            added.finish()
            try await responses.append(CollectionOfOne(added.bytes))
          }
        }
        do {
          while let piece = await responses.next(upTo: 1).first { try await writer.write(piece) }
          // The response has a result for every line, or the results of a group could not be made. In both cases no
          // more lines are taken.
          pieces.abandon()
          groups.abandon()
          try await group.waitForAll()
        } catch {
          pieces.abandon()
          groups.abandon()
          responses.abandon()
          throw error
        }
      }
    }
  }

  /// The weight of pieces that wait to be checked.
  private static let maximumPieceBytesInQueue = 256 << 10
  /// Pieces that are checked together: about 100 KiB, as one piece has at most `ServerLimits.readBytes`.
  private static let piecesAtOnce = 3
  /// The weight of jobs that are checked and wait for the store: some 2,000 with URLs of usual length.
  private static let maximumCheckedBytes = 768 << 10

  private static func cut(
    _ request: Request, _ format: BulkFormat, into pieces: BoundedQueue<ListCutter.Piece>
  ) async throws {
    var cutter = ListCutter(
      separator: format == .paths ? 0 : UInt8(ascii: "\n"), maximumItemBytes: ListChecker.maximumItemBytes)
    for try await buffer in request.body { try await pieces.append(cutter.take(buffer)) }
    if let last = cutter.finish() { try await pieces.append(CollectionOfOne(last)) }
    pieces.finish()
  }
}

/// Lines whose jobs are ready to be stored.
struct CheckedLines: Sendable {
  var numbers: [Int]
  var jobs: JobIntake.CheckedJobs
  /// The approximate number of bytes that they hold in memory.
  var weight: Int
}

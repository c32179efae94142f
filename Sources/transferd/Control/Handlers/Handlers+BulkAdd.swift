import HTTPServer
import NIOCore
import NIOHTTP1
import Store
import TransferAPI

extension Handlers {
  /// Many jobs: lines of JSON, or a list of URLs or paths. They are committed in groups; a job with an id is durable.
  static let addJobs: RouteTable.Handler = { request, daemon in
    let format = BulkFormat(contentType: request.header("Content-Type"))
    let options = try format.options(request.request.headers[NewJob.optionsField])
    switch format {
    case .jsonLines: return addLines(request, daemon)
    case .urls, .paths: return try await addList(format, options, request, daemon)
    }
  }

  /// Adds the jobs of an NDJSON body. The response has one line of NDJSON for each line of the body that is not blank.
  private static func addLines(_ request: ControlRequest, _ daemon: DaemonServices) -> Response {
    let (caller, request) = (request.caller, request.request)
    return Reply.lines { writer in
      let lines = BoundedQueue<BulkIntake.Line>(limit: maximumLineBytesInQueue) { $0.weight }
      let responses = ResponseMemory.queue(for: request)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          do {
            try await read(request, into: lines)
          } catch {
            // The client is gone: lines that are not stored yet are dropped.
            lines.abandon()
            throw error
          }
        }
        group.addTask {
          defer { responses.finish() }
          while case let taken = await lines.next(upTo: BulkIntake.groupSize), !taken.isEmpty {
            try await responses.append(CollectionOfOne(try await respond(to: taken, daemon, caller)))
          }
        }
        do {
          while let piece = await responses.next(upTo: 1).first { try await writer.write(piece) }
          // The response has a result for every line, or the results of a group could not be made. In both cases no
          // more lines are taken.
          lines.abandon()
          try await group.waitForAll()
        } catch {
          lines.abandon()
          responses.abandon()
          throw error
        }
      }
    }
  }

  /// The weight of lines that wait for the store.
  private static let maximumLineBytesInQueue = 512 << 10
  /// The beginning of a line that may be kept without a part of the server's memory, in bytes.
  private static let freeLineBytes = 64 << 10

  private static func read(_ request: Request, into lines: BoundedQueue<BulkIntake.Line>) async throws {
    var intake = BulkIntake()
    var reservation: MemoryBudget.Reservation?
    for try await buffer in request.body {
      intake.take(buffer)
      while let group = intake.nextGroup(isFinal: false) { try await lines.append(group) }
      if intake.pendingBytes <= freeLineBytes {
        reservation = nil
      } else if reservation == nil {
        reservation = try await request.reserve(BulkIntake.maximumLineBytes)
      }
    }
    while let group = intake.nextGroup(isFinal: true) { try await lines.append(group) }
    lines.finish()
  }

  private static func respond(to group: [BulkIntake.Line], _ daemon: DaemonServices, _ caller: Caller) async throws
    -> ByteBuffer
  {
    let results = await daemon.intake.submit(group.map(\.job), from: caller)
    var lines = ByteBuffer()
    for (line, result) in zip(group, results) {
      let reply: AddResult =
        switch result {
        case .success(let submission): AddResult(line: line.number, submission)
        case .failure(let problem): AddResult(line: line.number, error: problem)
        }
      lines.writeBytes(try Reply.line(reply))
    }
    return lines
  }
}

import FoundationEssentials
import Glibc
import Hummingbird
import NIOCore
import NIOFoundationCompat
import Store
import TransferAPI

extension Handlers {
  /// Lines of NDJSON in, a line for a line out. Lines are committed in groups; an answer with an id is durable.
  static let addJobs: RouteTable.Handler = { request, daemon in
    let (body, caller) = (request.request.body, request.caller)
    return Response(
      status: .ok, headers: [.contentType: "application/x-ndjson"],
      body: .init { writer in
        let lines = BoundedQueue<BulkIntake.Line>(limit: BulkIntake.maximumLineBytes) { $0.weight }
        let answers = BoundedQueue<ByteBuffer>(limit: maximumAnswerBytes) { $0.readableBytes }
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            do {
              try await read(body, into: lines)
            } catch {
              // Cut off: nobody hears what becomes of the lines that are not stored yet.
              lines.abandon()
              throw error
            }
          }
          group.addTask {
            defer { answers.finish() }
            while case let taken = await lines.next(upTo: BulkIntake.groupSize), !taken.isEmpty {
              try await answers.append(CollectionOfOne(try await answer(taken, daemon, caller)))
            }
          }
          do {
            while let piece = await answers.next(upTo: 1).first { try await writer.write(piece) }
            // Empty, but for a group that could not be answered: then nobody takes lines any more.
            lines.abandon()
            try await group.waitForAll()
          } catch {
            lines.abandon()
            answers.abandon()
            throw error
          }
        }
        try await writer.finish(nil)
      })
  }

  /// The answers to some 300,000 lines.
  private static let maximumAnswerBytes = 8 << 20

  private static func read(_ body: RequestBody, into lines: BoundedQueue<BulkIntake.Line>) async throws {
    var intake = BulkIntake()
    for try await buffer in body {
      intake.take(buffer)
      while let group = intake.nextGroup(isFinal: false) { try await lines.append(group) }
    }
    while let group = intake.nextGroup(isFinal: true) { try await lines.append(group) }
    lines.finish()
  }

  private static func answer(_ group: [BulkIntake.Line], _ daemon: DaemonFace, _ caller: Caller) async throws
    -> ByteBuffer
  {
    let results = await daemon.scheduler.submit(group.map(\.job), from: caller)
    var answer = ByteBuffer()
    for (line, result) in zip(group, results) {
      let reply: AddResult =
        switch result {
        case .success(let submission): AddResult(line: line.number, submission, in: caller.scope)
        case .failure(let problem): AddResult(line: line.number, error: problem)
        }
      answer.writeData(try Reply.line(reply))
    }
    return answer
  }
}

/// Cuts a stream of bytes into lines and groups of lines.
struct BulkIntake {
  struct Line: Sendable {
    var number: Int
    var job: Result<NewJob, Problem>
    /// About the bytes it holds.
    var weight = 256
  }

  static let maximumLineBytes = 1 << 20
  static let groupSize = 1000

  private var pending = ByteBuffer()
  private var lines: [Line] = []
  /// A line that is too long: dropped up to its end, and answered once.
  private var isSkipping = false
  private(set) var lineNumber = 0
  private let decoder = WireCoding.decoder()

  mutating func take(_ buffer: ByteBuffer) {
    var buffer = buffer
    while let length = Self.lengthOfLine(in: buffer) {
      var piece = buffer.readSlice(length: length) ?? ByteBuffer()
      buffer.moveReaderIndex(forwardBy: 1)
      if isSkipping {
        isSkipping = false
      } else {
        pending.writeBuffer(&piece)
        add(pending.readData(length: pending.readableBytes) ?? Data())
      }
      pending.clear()
    }
    guard !isSkipping else { return }
    pending.writeBuffer(&buffer)
    if pending.readableBytes > Self.maximumLineBytes {
      reject()
      isSkipping = true
      pending.clear()
    }
  }

  /// Only what is new is looked through, so that a long line takes linear time.
  private static func lengthOfLine(in buffer: ByteBuffer) -> Int? {
    buffer.withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress, let end = memchr(start, 10, bytes.count) else { return nil }
      return UnsafeRawPointer(end) - start  // checked: pointers into one buffer
    }
  }

  /// Up to `groupSize` jobs; what is there of the last group when no more comes. `nil` when there is none to hand out.
  mutating func nextGroup(isFinal: Bool) -> [Line]? {
    if isFinal, pending.readableBytes > 0 {
      let data = pending.readData(length: pending.readableBytes) ?? Data()
      if !isSkipping { add(data) }
    }
    guard !lines.isEmpty else { return nil }
    let group = Array(lines.prefix(Self.groupSize))
    lines.removeFirst(group.count)
    return group
  }

  private mutating func add(_ data: Data) {
    lineNumber += 1
    guard data.contains(where: { $0 > 0x20 }) else { return }
    guard data.count <= Self.maximumLineBytes else {
      lineNumber -= 1
      return reject()
    }
    do {
      let job = try decoder.decode(NewJob.self, from: data)
      lines.append(Line(number: lineNumber, job: .success(job), weight: 256 + data.count))
    } catch {
      lines.append(Line(number: lineNumber, job: .failure(Problem(.invalid, WireCoding.explain(error)))))
    }
  }

  private mutating func reject() {
    lineNumber += 1
    lines.append(
      Line(
        number: lineNumber,
        job: .failure(Problem(.tooLarge, "the line is longer than \(Self.maximumLineBytes) bytes"))))
  }
}

import NIOCore
import Store
import TransferAPI

/// The response for the lines of a list: one run for consecutive lines that were added, and one line for each other
/// line. Pure.
struct AddedLines {
  private(set) var bytes = ByteBuffer()
  private var run: AddedRun?

  /// Appends the result of a line. Lines come in their order.
  mutating func append(_ result: Result<Submission, Problem>, line: Int) throws {
    switch result {
    case .failure(let problem): try write(AddResult(line: line, error: problem))
    case .success(let submission):
      let reply = AddResult(line: line, submission)
      guard reply.existing == nil, reply.warning == nil else { return try write(reply) }
      if run?.extend(line: line, id: submission.id) ?? false { return }
      endRun()
      run = AddedRun(line: line, id: submission.id)
    }
  }

  /// Writes the last run. Call it after the last result.
  mutating func finish() { endRun() }

  private mutating func write(_ reply: AddResult) throws {
    endRun()
    bytes.writeBytes(try Reply.line(reply))
  }

  private mutating func endRun() {
    guard let run else { return }
    bytes.writeString(run.json + "\n")
    self.run = nil
  }
}

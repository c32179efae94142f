import FoundationEssentials
import Glibc
import TransferAPI

/// `upload -`: the daemon stores standard input and syncs it to disk before the job's id is printed.
struct StandardInputUpload {
  private let name: String
  private let plan: UploadPlan
  private let command: Upload

  /// Bytes in one request.
  private static let pieceBytes = 1 << 20

  init(_ name: String, _ plan: UploadPlan, _ command: Upload) {
    self.name = name
    self.plan = plan
    self.command = command
  }

  func run() async throws {
    guard !plan.needsDigest else {
      throw CommandFailure(
        .usage, "cannot use {sha256} with standard input: its digest is known only at its end; use another field")
    }
    // Report a wrong URL before a long input is read.
    var sample = try plan.job(for: file(bytes: 0))
    if command.dryRun.dryRun {
      sample.source = "-"
      var lines = command.dryRun.lines()
      lines.take(.path(name)) { [sample] _ in sample }
      return try command.dryRun.print(lines)
    }
    try Output.standard.requireOpen()
    let connection = try command.daemon.connection()
    let client = try await connection.open()
    var pending: SpoolFeed?
    do {
      // Delete an incomplete input: it is useless and may be large.
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
      // From here on a job may own the file.
      pending = nil
      let outcome: Submission
      do {
        outcome = try await Submission.send(
          BulkBody(lines, isAlone: true), keepsIDs: true, from: feed.client, over: connection)
      } catch let refusal as Problem {
        await feed.discard()
        throw refusal
      }
      // The key belongs to an earlier job, which does not use this file.
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

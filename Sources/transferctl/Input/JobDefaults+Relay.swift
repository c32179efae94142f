import TransferAPI
import WireValues

/// Relays from arguments and lines.
extension JobDefaults {
  /// Completes a relay. `--then-upload` makes every job one; a line may name its own target.
  /// - Throws: `WireError`, `FileFault` for a missing checksum.
  func relay(_ given: NewJob) throws -> NewJob {
    var job = given
    job.kind = .relay
    if job.destination == nil { job.destination = self.job.destination }
    try Syntax.check(url: job.source)
    try Syntax.check(url: job.destination ?? "", schemes: URLText.uploadSchemes)
    try job.options.check()
    try job.checkRelay()
    try job.nameRelayTarget()
    try addChecksum(to: &job)
    return job
  }

  /// Makes the job of a line a relay, because of `--then-upload`.
  /// - Parameter given: the names of the fields that the line sets.
  func makeRelay(_ job: inout NewJob, _ given: Set<String>) throws(WireError) {
    if let name = ["destination", "directory"].first(where: given.contains), job.kind != .relay {
      throw WireError(
        text:
          "\(field: name) is a path, and --then-upload leaves no file here; name another target with \"thenUpload\"")
    }
    guard given.isDisjoint(with: ["kind", "recursive"]) || job.kind == .relay else {
      throw WireError("a \(job.kind.rawValue) cannot be uploaded again; leave out --then-upload, or this line")
    }
    job.kind = .relay
  }

  /// Whether jobs that name no target of their own would replace each other's files.
  var sendsAllToOneURL: Bool {
    guard job.kind == .relay, job.options.upload.replacesTarget else { return false }
    var (one, other) = (job, job)
    (one.source, other.source) = ("https://h/a", "https://h/b")
    guard (try? one.nameRelayTarget()) != nil, (try? other.nameRelayTarget()) != nil else { return false }
    return one.destination == other.destination
  }
}

import Store
import TransferAPI
import TransferEngine

/// The validation rules for relays: those of a download for the source, those of an upload for the target.
extension JobValidation {
  /// Validates a relay.
  /// - Throws: `Problem` that describes the invalid option.
  func relaySpec(_ given: NewJob) throws(Problem) -> JobSpec {
    var job = given
    try validated {
      try job.checkRelay()
      try job.nameRelayTarget()
    }
    try Self.checkLength(of: job.source)
    let source = try Self.downloadURL(job.source)
    let text = job.destination ?? ""
    try Self.checkLength(of: text)
    let target = try Self.target(text)
    try validated { try job.checkRelaySides(source: source.scheme, target: target.scheme) }
    let (down, up) = (job.options.ofRelaySource(source.scheme), job.options.ofRelayTarget(target.scheme))
    try Self.checkS3(down, source)
    try Self.checkS3(up, target)
    var spec = JobSpec(
      owner: caller.uid, relaying: source.string, origin: try Self.origin(of: source, down.s3),
      credentials: Self.credentials(of: source), to: target.string,
      .init(credentials: Self.credentials(of: target), otherOrigin: try Self.origin(of: target, up.s3)))
    spec.options = job.options
    spec.options.download = try Self.checked(down, source).download
    spec.options.upload = try Self.checked(job.options.upload, target)
    spec.spool = RelaySpool.place(of: source.string)
    return spec
  }
}

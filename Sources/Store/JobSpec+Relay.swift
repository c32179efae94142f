public import TransferAPI

extension JobSpec {
  /// What a relay knows beside a download: its source is the job's `source`, its target the job's `destination`.
  public struct Relay: Equatable, Sendable {
    public var phase = RelayPhase.download
    /// The userinfo of the target's URL; `JobSpec.credentials` are the source's.
    public var credentials: Credentials?
    /// Scheme, host and port of the server of the phase that the relay is not in.
    public var otherOrigin: String

    public init(phase: RelayPhase = .download, credentials: Credentials? = nil, otherOrigin: String) {
      (self.phase, self.credentials, self.otherOrigin) = (phase, credentials, otherOrigin)
    }
  }

  /// A relay from one URL to another.
  public init(
    owner: UInt32, relaying url: String, origin: String, credentials: Credentials? = nil, to target: String,
    _ relay: Relay
  ) {
    self.init(owner: owner, url: url, origin: origin, destination: target, credentials: credentials)
    kind = .relay
    self.relay = relay
  }

  /// What the job transfers now: a relay is a download first and an upload afterwards.
  public var transferKind: JobKind {
    guard let relay else { return kind }
    return switch relay.phase {
    case .download: .download
    case .upload: .upload
    }
  }

  /// The transfer that the job is now; other jobs than relays as they are.
  /// - Parameter copy: the path of a relay's file in the spool.
  public func leg(copy: String) -> JobSpec { relay.map { leg($0.phase, copy: copy) } ?? self }

  /// A phase of a relay, as a download or an upload.
  public func leg(_ phase: RelayPhase, copy: String) -> JobSpec {
    guard let relay else { return self }
    var leg = self
    leg.relay = nil
    leg.origin = phase == relay.phase ? origin : relay.otherOrigin
    switch phase {
    case .download:
      leg.kind = .download
      leg.destination = copy
      leg.options = options.ofRelaySource(Self.scheme(of: source))
      // The directory of the copy is made when it is needed. What is there is of no use: the row does not know it.
      (leg.options.download.createDirectories, leg.options.download.replace) = (true, true)
      leg.options.download.ifExists = .replace
    case .upload:
      leg.kind = .upload
      leg.source = copy
      leg.credentials = relay.credentials
      leg.options = options.ofRelayTarget(Self.scheme(of: destination))
    }
    return leg
  }

  private static func scheme(of url: String) -> String { String(url.prefix { $0 != ":" }).lowercased() }
}

extension JobRecord {
  /// The job as the download or the upload that it is now; other jobs than relays as they are.
  /// - Parameter copy: the path of a relay's file in the spool.
  public func leg(copy: String) -> JobRecord {
    guard spec.relay != nil else { return self }
    var leg = self
    leg.spec = spec.leg(copy: copy)
    (leg.job.kind, leg.job.source, leg.job.destination) = (leg.spec.kind, leg.spec.source, leg.spec.destination)
    return leg
  }
}

extension JobKind {
  /// Whether a job of this kind may be in a line of uploads.
  var mayUpload: Bool {
    switch self {
    case .upload, .relay: true
    case .download, .listing: false
    }
  }
}

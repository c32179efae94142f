public import FoundationEssentials
import GRDB
public import TransferAPI

/// Another address of the same file, checked by the daemon.
public struct AddressChange: Equatable, Sendable {
  /// Without userinfo.
  public var url: String
  public var origin: String
  /// Replaces what was stored, also where it is `nil`.
  public var credentials: JobSpec.Credentials?
  /// Of an upload: what the server has of it does not count there, and is to be taken back.
  public var isElsewhere: Bool
  /// Of an upload: the collection of `url`, in the place of what was stored.
  public var collection: String?

  public init(
    url: String, origin: String, credentials: JobSpec.Credentials? = nil, isElsewhere: Bool = false,
    collection: String? = nil
  ) {
    self.url = url
    self.origin = origin
    self.credentials = credentials
    self.isElsewhere = isElsewhere
    self.collection = collection
  }
}

extension Store {
  /// Changes what is given and leaves the rest. Leaves a `changed` event where something is different
  /// afterwards.
  /// - Parameters:
  ///   - limitRate: bytes a second; `.some(nil)` takes the limit away.
  ///   - address: in every state but `running` and `completed`. Resume data is kept; headers that look like secrets are
  ///     not where the origin is another: they were given for the old one. The event's reason names them.
  /// - Returns: the job as it is now.
  /// - Throws: `notFound`, `urlChangeNotAllowed`.
  public func update(
    _ id: JobID, priority: Int? = nil, limitRate: Int64?? = nil, address: AddressChange? = nil,
    in scope: Scope, at now: Date
  ) async throws(StoreError) -> JobRecord {
    try await queue.run(weight: 2) { transaction in
      try transaction.update(id, priority: priority, limitRate: limitRate, address: address, in: scope, at: now)
    }
  }
}

extension Transaction {
  fileprivate mutating func update(
    _ id: JobID, priority: Int?, limitRate: Int64??, address: AddressChange?, in scope: Scope, at now: Date
  ) throws -> JobRecord {
    guard let before = try JobRecord.fetch(db, id: id, in: scope) else { throw StoreError.notFound(id) }
    var spec = before.spec
    if let priority { spec.priority = priority }
    if let limitRate { spec.limitRate = limitRate }
    var reason: String?
    if let address {
      if spec.origin != address.origin { reason = spec.dropSecrets() }
      spec.url = address.url
      spec.origin = address.origin
      spec.credentials = address.credentials
      if spec.kind == .upload { spec.upload.collection = address.collection }
    }
    guard spec != before.spec else { return before }
    switch before.job.state {
    case .running, .completed:
      if spec.url != before.spec.url || spec.credentials != before.spec.credentials || spec.upload != before.spec.upload
      {
        throw StoreError.urlChangeNotAllowed(id, before.job.state)
      }
    case .queued, .retrying, .paused, .failed, .cancelled: break
    }
    if spec.kind == .upload, address?.isElsewhere == true {
      try noteAbandonment(of: id, ledger: nil, at: now)
      try run("UPDATE job SET resume_data = NULL, bytes_done = 0 WHERE id = ?", [id.rawValue])
    }
    let (open, secrets) = spec.split()
    try run(
      """
      UPDATE job SET priority = ?, limit_rate = ?, source = ?, destination = ?, origin_id = ?, options = ?
      WHERE id = ?
      """,
      [
        open.priority, open.limitRate, open.source, open.destination, try originID(open.origin, at: now),
        try JobOptions.json(for: open), id.rawValue,
      ])
    if secrets != before.spec.split().secrets {
      try erase(secretPlace(in: .job, id.rawValue))
      try setSecretPlace(in: .job, id.rawValue, try secrets.map { try keep($0.encoded()) })
    }
    if spec.kind == .upload, spec.destination != before.spec.destination, !before.job.state.isFinal {
      try leaveLine(id)
      try joinLine(id)
    }
    try note(.changed, job: id, of: spec.owner, at: now, from: before.job.state, to: before.job.state, reason: reason)
    guard let after = try JobRecord.fetch(db, id: id, in: scope) else { throw StoreError.notFound(id) }
    return after
  }
}

extension JobSpec {
  /// Forgets what was given for the server of the present URL and is nobody else's to see: headers that look like secrets or
  /// are looked up as such, and where user name and password are found. netrc stays, for it goes by the host.
  /// - Returns: for people, what that was; `nil` for nothing.
  fileprivate mutating func dropSecrets() -> String? {
    let names = headers.keys.filter(Secrets.isSecret(headerName:)) + secretHeaders.keys
    for name in names {
      headers[name] = nil
      secretHeaders[name] = nil
    }
    var dropped: [String] = []
    if !names.isEmpty { dropped.append("the headers \(names.sorted().joined(separator: ", "))") }
    if let reference = credentialsReference, reference != .netrc {
      credentialsReference = nil
      dropped.append("the user name and password from \(reference)")
    }
    return dropped.isEmpty
      ? nil : "dropped \(dropped.joined(separator: " and ")), which were given for \(origin)"
  }
}

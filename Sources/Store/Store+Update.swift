public import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// Changes the given values. Leaves a `changed` event if something is different afterwards.
  /// - Parameters:
  ///   - limitRate: bytes per second; `.some(nil)` removes the limit.
  ///   - address: in every state but `running` and `completed`. Resume data is kept. Headers that look like secrets are dropped
  ///     if the origin changes, because they were given for the old one; all of them if the protocol has none. The event's
  ///     reason names them.
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
    if let limitRate { spec.options.limitRate = limitRate }
    var reason: String?
    if let address {
      if spec.origin != address.origin { reason = spec.dropSecrets(for: address.url) }
      if spec.kind == .upload { spec.target = address.target } else { spec.url = address.url }
      spec.origin = address.origin
      spec.credentials = address.credentials
    }
    guard spec != before.spec else { return before }
    // The copy is there already, and the target stays the target.
    if spec.url != before.spec.url, spec.relay?.phase == .upload {
      throw StoreError.urlChangeNotAllowed(id, before.job.state)
    }
    switch before.job.state {
    case .running, .completed:
      if spec.url != before.spec.url || spec.credentials != before.spec.credentials
        || spec.options.upload != before.spec.options.upload
      {
        throw StoreError.urlChangeNotAllowed(id, before.job.state)
      }
    case .queued, .retrying, .paused, .failed, .cancelled: break
    }
    if spec.kind == .upload, address?.isElsewhere == true {
      try noteRemoteCleanup(of: id, ledger: nil, at: now)
      try run("UPDATE job SET resume_data = NULL, bytes_done = 0 WHERE id = :id") { $0("id", id) }
      sums.replace(
        .init(state: before.job.state, bytesDone: before.job.bytesDone, bytesTotal: before.job.bytesTotal),
        by: .init(state: before.job.state, bytesTotal: before.job.bytesTotal), owner: spec.owner, batch: spec.batch)
    }
    let (open, secrets) = spec.split()
    let origin = try originID(open.origin, at: now)
    let options = try OptionText.text(of: open.options)
    try run(
      """
      UPDATE job SET priority = :priority, source = :source, destination = :destination, origin_id = :origin_id,
        options = :options
      WHERE id = :id
      """
    ) { bind in
      bind("priority", open.priority)
      bind("source", open.source)
      bind("destination", open.destination)
      bind("origin_id", origin)
      bind("options", options)
      bind("id", id)
    }
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
  /// Drops secrets that were given for the present server, because no other server may see them: headers that look like
  /// secrets or are looked up, the place where user name and password are looked up, the client certificate, and
  /// `insecure`. A netrc reference and cookies are kept, because they are searched by host.
  /// - Parameter url: on the other server. If its protocol has no header fields, all of them are dropped.
  /// - Returns: what was dropped, for people; `nil`: nothing.
  fileprivate mutating func dropSecrets(for url: String) -> String? {
    let hasFields = ["http://", "https://", "s3://"].contains { url.hasPrefix($0) }
    let open = hasFields ? options.headers.keys.filter(Secrets.isSecret(headerName:)) : Array(options.headers.keys)
    let names = open + options.secretHeaders.keys
    for name in names {
      options.headers[name] = nil
      options.secretHeaders[name] = nil
    }
    var dropped: [String] = []
    if !names.isEmpty { dropped.append("the headers \(names.sorted().joined(separator: ", "))") }
    if let reference = options.credentials, reference != .netrc {
      options.credentials = nil
      dropped.append("the user name and password from \(reference)")
    }
    if let certificate = options.network.cert {
      (options.network.cert, options.network.certKey) = (nil, nil)
      dropped.append("the client certificate \(certificate)")
    }
    if options.network.insecure {
      options.network.insecure = false
      dropped.append("insecure")
    }
    return dropped.isEmpty
      ? nil : "dropped \(dropped.joined(separator: " and ")), which were given for \(origin)"
  }
}

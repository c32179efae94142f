import Store
import TransferAPI
import TransferEngine

/// Checks changes of jobs.
extension JobIntake {
  /// Changes the priority, the rate limit or the URL of a job. The change is durable when this returns.
  func update(_ id: JobID, _ change: JobChange, in scope: Scope) async -> Result<ChangedJob, Problem> {
    do {
      if let priority = change.priority { try JobValidation.check(priority: priority) }
      if let rate = change.limitRate, rate < 0 {
        throw Problem(.invalid, text: "\(field: "limitRate") must be 0 (no limit) or more")
      }
      // Check the scope first: a job that is out of scope must not be stopped.
      guard let known = try await store.job(id, in: scope) else { throw StoreError.notFound(id) }
      return await scheduler.update(id, change, try address(change, of: known), in: scope)
    } catch let error as StoreError {
      return .failure(Problem(error))
    } catch let problem as Problem {
      return .failure(problem)
    } catch {
      return .failure(Problem(.internal, "\(error)"))
    }
  }

  /// The effect of a new URL on a job; `nil` if the change has no URL.
  /// - Throws: `Problem` for a URL that the job's owner may not use.
  private func address(_ change: JobChange, of record: JobRecord) throws -> AddressChange? {
    guard let text = change.url else { return nil }
    guard record.job.kind != .listing else {
      throw Problem(
        .invalid, "cannot change the URL of a listing: its files are those of the old one; add another listing")
    }
    guard record.spec.relay?.phase != .upload else {
      throw Problem(
        .notAllowed,
        "cannot change the URL of a relay that uploads: its file is here already, and its target stays; add another relay"
      )
    }
    try JobValidation.checkLength(of: text)
    let isUpload = record.job.kind == .upload
    let given = isUpload ? try JobValidation.target(text) : try JobValidation.downloadURL(text)
    let credentials = JobValidation.credentials(of: given)
    var (url, target) = (given, UploadTarget(url: given.string))
    if isUpload {
      target = record.spec.target.moved(to: given.string)
      try JobValidation.checkLength(of: target.url)
      if target.url != given.string { url = try JobValidation.target(target.url) }
    }
    let options =
      record.spec.relay == nil ? record.spec.options : record.spec.options.ofRelaySource(url.scheme)
    var checked = options
    // The change drops them.
    if !url.isHTTP, url.scheme != "s3" { (checked.headers, checked.secretHeaders) = ([:], [:]) }
    try validated { try checked.check(scheme: url.scheme) }
    // A collection is where a tus server creates uploads.
    target = UploadTarget(url: url.string, collection: url.isHTTP ? target.collection : nil)
    var address = AddressChange(target: target, origin: url.origin, credentials: credentials)
    try network.check([url.string], of: record.spec.owner)
    if !paths.mayUseServiceCredentials(record.spec.owner) {
      try PrivilegedCredentials.checkUnused(by: options, url, credentials: credentials)
    }
    address.origin = try JobValidation.origin(of: url, options.s3)
    try JobValidation.checkS3(options, url)
    guard isUpload else { return address }
    // A URL that differs only in its query, such as a new signature, is the same place.
    let old = try JobValidation.target(record.spec.destination)
    address.isElsewhere = old.origin != url.origin || old.path != url.path
    return address
  }
}

import ArgumentParser
import TransferAPI

/// The options of `add` that describe its jobs: its option groups together.
///
/// The groups stand side by side in the command. In debug builds ArgumentParser checks a group several times for each group around it.
struct AddOptions {
  let download: DownloadArguments
  let relay: RelayArguments
  let listing: ListingArguments
  let s3: S3Arguments
  let job: JobArguments
  let network: NetworkArguments

  /// Checks what each group cannot check alone.
  func check() throws {
    if listing.recursive, download.output != nil {
      throw ValidationError("-o is for one file; --recursive keeps the names below -d.")
    }
    try network.check(key: download.key)
    if relay.thenUpload != nil { try checkRelay() }
    // Files and descriptors are read when the command runs: reading a pipe may block.
    let template = try template(PathResolver(), readingSources: false)
    try validated {
      try template.options.check()
      try template.checkFreshness()
      try template.checkListing()
      try template.checkRelay()
      try template.checkSuccessAction()
    }
  }

  private func checkRelay() throws {
    let useless = [
      ("-d", download.directory != nil), ("-o", download.output != nil), ("--recursive", listing.recursive),
    ].first { $0.1 }
    if let useless { throw ValidationError("\(useless.0) is for files on this machine; --then-upload leaves none.") }
  }

  /// A job that has only these options set.
  private func template(_ paths: PathResolver, readingSources: Bool = true) throws -> NewJob {
    var template = try job.template(network, paths, readingSources: readingSources)
    template.key = download.key
    template.options.onSuccess = try validated(about: "onSuccess") { try SuccessAction(parsing: download.onSuccess) }
    template.options.download = try download.options(paths)
    template.options.s3 = s3.options
    template.options.listing = listing.options
    if listing.recursive { template.kind = .listing }
    if let target = relay.thenUpload {
      (template.kind, template.destination) = (.relay, target)
      template.options.upload = try relay.options()
      template.options.relay = try relay.relayOptions()
    }
    return template
  }

  /// - Throws: `CommandFailure` for the directory.
  func defaults(_ paths: PathResolver = PathResolver()) throws -> JobDefaults {
    var defaults = JobDefaults(
      directory: try download.directory.map { try paths.absolute($0) } ?? paths.absolute(paths.currentDirectory()))
    defaults.output = try download.output.map { text throws(WireError) in try OutputTemplate(parsing: text) }
    defaults.job = try template(paths)
    defaults.job.options.onSuccess = try defaults.job.options.onSuccess.resolved(paths)
    defaults.paths = paths
    return defaults
  }
}

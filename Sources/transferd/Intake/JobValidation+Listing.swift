import Store
import TransferAPI
import TransferEngine
import WireValues

/// The validation rules for listings, in addition to those for all jobs.
extension JobValidation {
  /// Validates a listing.
  /// - Throws: `Problem` that describes the invalid option.
  func listingSpec(_ job: NewJob) throws(Problem) -> JobSpec {
    try Self.checkLength(of: job.source)
    let url = try Self.directoryURL(job.source)
    guard let directory = job.directory else {
      throw Problem(.invalid, text: "missing field \"\(field: "directory")\"")
    }
    var spec = JobSpec(
      owner: caller.uid, url: url.string, origin: try Self.origin(of: url, job.options.s3),
      destination: try Self.checked(directory, true),
      credentials: Self.credentials(of: url))
    spec.kind = .listing
    spec.options = try Self.checked(job.options, url)
    spec.options.listing.recursive = true
    if url.scheme == "s3" {
      try Self.checkNames(job.options.s3)
    } else {
      try validated { try job.options.s3.checkUnused() }
    }
    return spec
  }

  /// The URL of a directory, with a slash at its end.
  private static func directoryURL(_ text: String) throws(Problem) -> RequestURL {
    let url = try target(text)
    guard DirectoryLister.schemes.contains(url.scheme) else {
      let others = DirectoryLister.schemes.joined(separator: ", ")
      throw Problem(.invalid, "cannot list directories with \(url.scheme); use \(others)")
    }
    guard !url.string.contains("?") else {
      throw Problem(
        .invalid, "the URL of a directory cannot have a query: it would be missing in the URLs of its files")
    }
    guard !url.path.hasTrailingSlash else { return url }
    return try validated { try RequestURL(allowingS3: url.string + "/").with(url.credentials) }
  }
}

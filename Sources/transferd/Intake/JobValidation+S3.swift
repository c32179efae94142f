import TransferAPI
import TransferEngine
import WireValues

/// The validation rules for S3 objects.
extension JobValidation {
  /// Parses the URL of a file or of an S3 object.
  static func target(_ text: String) throws(Problem) -> RequestURL {
    guard text.lowercased().hasPrefix("s3://") else { return try url(text) }
    return try validated { try RequestURL(allowingS3: text) }
  }

  /// The origin that connections and limits are counted for. For S3 without an endpoint it is the bucket's host.
  static func origin(of url: RequestURL, _ options: JobOptions.S3) throws(Problem) -> String {
    if let endpoint = options.endpoint {
      try checkLength(of: endpoint)
      guard let url = try? Self.url(endpoint), url.isHTTP else {
        throw Problem(
          .invalid,
          text: "\(field: "endpoint") must be an http or https URL, not \"\(shown(Secrets.redacting(url: endpoint)))\"")
      }
      return url.origin
    }
    return url.scheme == "s3" ? "https://\(url.host).s3.amazonaws.com:443" : url.origin
  }

  /// Checks the URL of an S3 object, and that the options of S3 are given for S3 alone.
  /// - Throws: `Problem` that describes the invalid option.
  static func checkS3(_ options: JobOptions, _ url: RequestURL) throws(Problem) {
    let isS3 = url.scheme == "s3" || options.upload.uploadProtocol == .s3
    guard isS3 else {
      try validated { try options.s3.checkUnused() }
      return
    }
    if url.path.isEmpty || url.path.hasTrailingSlash { throw Problem(.invalid, "the S3 URL names no key") }
    if url.string.contains("?") { throw Problem(.invalid, "the URL of an S3 object cannot have a query") }
    try checkNames(options.s3)
  }

  static func checkNames(_ options: JobOptions.S3) throws(Problem) {
    _ = try name(options.profile, "profile")
    _ = try name(options.region, "region")
  }
}

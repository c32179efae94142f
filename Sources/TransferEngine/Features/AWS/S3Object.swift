import FoundationEssentials

/// An object's URL without a query, in the one encoding that is also signed.
struct S3Object: Sendable, Equatable {
  let url: RequestURL

  /// - Parameter target: `s3://bucket/key`, or the object's own http(s) URL.
  /// - Throws: `.invalidURL`.
  init(_ target: RequestURL, _ settings: S3Settings, _ addressing: S3Options.Addressing) throws(TransferError) {
    let path = AWSCanonical.path(target.path, isNormalized: false, isEncodedTwice: false)
    guard path.count > 1, !path.hasSuffix("/") else {
      throw .invalidURL(target.string, reason: "it names no key")
    }
    guard target.query.isEmpty else { throw .invalidURL(target.string, reason: "an object's URL has no query") }
    guard target.scheme == "s3" else {
      url = try RequestURL(target.origin + path)
      return
    }
    url = try RequestURL(try Self.base(of: target, settings, addressing) + path)
  }

  /// The URL for requests about a bucket, such as lists of its keys.
  /// - Parameter target: `s3://bucket/?query`; the query stays.
  static func bucket(
    _ target: RequestURL, _ settings: S3Settings, _ addressing: S3Options.Addressing
  ) throws(TransferError) -> RequestURL {
    try RequestURL(try base(of: target, settings, addressing) + "/?" + target.query)
  }

  /// The bucket's URL, without a slash at its end.
  private static func base(
    of target: RequestURL, _ settings: S3Settings, _ addressing: S3Options.Addressing
  ) throws(TransferError) -> String {
    let bucket = target.host
    let endpoint = try RequestURL(settings.endpoint ?? amazon(settings.region))
    let base =
      endpoint.path == "/" ? "" : endpoint.path.hasSuffix("/") ? String(endpoint.path.dropLast()) : endpoint.path
    let isHost: Bool
    switch addressing {
    case .path: isHost = false
    case .virtualHost: isHost = true
    // A dot in the bucket's name would not match the certificate's wildcard.
    case .automatic: isHost = settings.endpoint == nil && !bucket.contains(".") && !bucket.contains("_")
    }
    return isHost
      ? "\(endpoint.scheme)://\(bucket).\(endpoint.host):\(endpoint.port)\(base)"
      : "\(endpoint.origin)\(base)/\(bucket)"
  }

  private static func amazon(_ region: String) -> String {
    "https://s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
  }

  /// The object's URL with a query; encodes the values.
  func url(_ query: [(String, String?)]) throws(TransferError) -> RequestURL {
    try url.replacing(
      query: query.map { name, value in
        value.map { "\(name)=\($0.percentEncoded(allowing: .unreserved))" } ?? name
      }.joined(separator: "&"))
  }
}

import FoundationEssentials

/// Who asks S3, and where: the options, the environment and the profiles taken together, at each attempt anew.
struct S3Settings: Sendable {
  var credentials: AWSCredentials
  var region: String
  /// `nil`: AWS.
  var endpoint: String?

  /// Blocks while files are read and a command runs: for `BlockingIO`.
  /// - Parameters:
  ///   - given: an access key that came with the request, as its user name and password.
  ///   - environment: `nil`: neither variables nor profiles nor commands are used, only what the request says itself.
  /// - Throws: `.upload(.credentials)`.
  init(_ options: S3Options, given: Credentials?, environment: AWSEnvironment?) throws(TransferError) {
    guard let environment else {
      guard options.profile == nil, options.credentialCommand == nil, let given else {
        throw .upload(.credentials("this request must bring an access key of its own: s3://KEY:SECRET@bucket/key"))
      }
      credentials = AWSCredentials(accessKeyID: given.username, secretAccessKey: given.password)
      region = options.region ?? Self.defaultRegion
      endpoint = options.endpoint
      return
    }
    let profiles = environment.profiles
    let name = options.profile ?? environment["AWS_PROFILE"] ?? environment["AWS_DEFAULT_PROFILE"] ?? "default"
    let profile = profiles[name]
    if profile == nil, options.profile != nil {
      throw .upload(.credentials("there is no profile \"\(name)\" in ~/.aws"))
    }
    region =
      options.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? profile?["region"]
      ?? Self.defaultRegion
    endpoint =
      options.endpoint ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"]
      ?? profile?["endpoint_url"]
    credentials = try Self.credentials(options, given, environment, profiles, name)
  }

  private static let defaultRegion = "us-east-1"

  private static func credentials(
    _ options: S3Options, _ given: Credentials?, _ environment: AWSEnvironment, _ profiles: AWSProfiles, _ name: String
  ) throws(TransferError) -> AWSCredentials {
    if let command = options.credentialCommand { return try CredentialProcess.run(command) }
    if let given { return AWSCredentials(accessKeyID: given.username, secretAccessKey: given.password) }
    // A profile that was asked for comes before the environment.
    if options.profile == nil, let key = environment["AWS_ACCESS_KEY_ID"],
      let secret = environment["AWS_SECRET_ACCESS_KEY"]
    {
      return AWSCredentials(
        accessKeyID: key, secretAccessKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"])
    }
    guard let profile = profiles[name] else {
      throw .upload(
        .credentials("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws/credentials"))
    }
    return try credentials(of: profile, name)
  }

  private static func credentials(of profile: [String: String], _ name: String) throws(TransferError) -> AWSCredentials
  {
    if let key = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] {
      return AWSCredentials(
        accessKeyID: key, secretAccessKey: secret, sessionToken: profile["aws_session_token"])
    }
    if let command = profile["credential_process"] {
      return try CredentialProcess.run(CredentialProcess.words(command))
    }
    if profile["role_arn"] != nil || profile["sso_session"] != nil || profile["sso_start_url"] != nil {
      throw .upload(
        .credentials(
          "the profile \"\(name)\" needs a role or a login; let a credential_process mint them, such as "
            + "\"aws configure export-credentials --profile \(name) --format process\""))
    }
    throw .upload(.credentials("the profile \"\(name)\" holds no access key"))
  }
}

/// Where an object is: its URL without a query, encoded the one way that is also signed.
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
    let bucket = target.host
    let endpoint = try RequestURL(settings.endpoint ?? Self.amazon(settings.region))
    let base =
      endpoint.path == "/" ? "" : endpoint.path.hasSuffix("/") ? String(endpoint.path.dropLast()) : endpoint.path
    let isHost: Bool
    switch addressing {
    case .path: isHost = false
    case .virtualHost: isHost = true
    // A dot in the name would not match the certificate's wildcard.
    case .automatic: isHost = settings.endpoint == nil && !bucket.contains(".") && !bucket.contains("_")
    }
    url =
      isHost
      ? try RequestURL("\(endpoint.scheme)://\(bucket).\(endpoint.host):\(endpoint.port)\(base)\(path)")
      : try RequestURL("\(endpoint.origin)\(base)/\(bucket)\(path)")
  }

  private static func amazon(_ region: String) -> String {
    "https://s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
  }

  /// The object's URL with a query; values are encoded here.
  func url(_ query: [(String, String?)]) throws(TransferError) -> RequestURL {
    try url.replacing(
      query: query.map { name, value in
        value.map { "\(name)=\($0.percentEncoded(allowing: .unreserved))" } ?? name
      }.joined(separator: "&"))
  }
}

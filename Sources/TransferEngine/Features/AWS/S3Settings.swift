import FoundationEssentials
import WireValues

/// The endpoint, region and credentials for S3. Each attempt determines them again from options, environment and
/// profiles.
struct S3Settings: Sendable {
  var credentials: AWSCredentials
  var region: String
  /// `nil`: AWS.
  var endpoint: String?

  /// Blocks while it reads files and runs a command: call it in `BlockingIO`.
  /// - Parameters:
  ///   - given: an access key that came with the request, as its user name and password.
  ///   - environment: `nil` uses neither variables nor profiles nor commands, only the request's own settings.
  /// - Throws: `.upload(.credentials)`.
  init(_ options: S3Options, given: Credentials?, environment: AWSEnvironment?) throws(TransferError) {
    guard let environment else {
      guard options.profile == nil, options.credentialCommand == nil, let given else {
        throw .upload(.credentials("this request must have its own access key: s3://KEY:SECRET@bucket/key"))
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
    // A requested profile precedes the environment.
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
      let words: [String]
      do throws(ShellWords.Problem) {
        words = try ShellWords.split(command)
      } catch {
        throw .upload(.credentials("cannot use the profile \"\(name)\": \(error) (credential_process)"))
      }
      return try CredentialProcess.run(words)
    }
    if profile["role_arn"] != nil || profile["sso_session"] != nil || profile["sso_start_url"] != nil {
      throw .upload(
        .credentials(
          "the profile \"\(name)\" needs a role or a login; configure a credential_process for it, such as "
            + "\"aws configure export-credentials --profile \(name) --format process\""))
    }
    throw .upload(.credentials("the profile \"\(name)\" holds no access key"))
  }
}

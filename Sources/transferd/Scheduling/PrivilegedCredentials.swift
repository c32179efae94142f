import Store
import TransferAPI
import TransferEngine

/// Credentials that belong to the service: cloud profiles and keys, SSH keys and the agent. Requests of members of the socket's
/// group bring their own.
enum PrivilegedCredentials {
  /// Checks that a member's job does not depend on what belongs to the service. The engine is told the same at each attempt
  /// (`TransferRequest.usesAmbientCredentials`).
  /// - Parameters:
  ///   - url: the server's; `s3:` included.
  ///   - credentials: the user name and password, or access key, that the job brings.
  /// - Throws: `Problem` with `permission`.
  static func checkUnused(
    by options: UploadOptions, _ url: RequestURL, credentials: JobSpec.Credentials?
  ) throws(Problem) {
    guard options.profile == nil else {
      throw Problem(
        .permission, "cannot use a profile: only the user that runs transferd, and root, may use the service's profiles"
      )
    }
    let isComplete = credentials.map { !$0.username.isEmpty && !$0.password.isEmpty } ?? false
    if isComplete { return }
    if url.scheme == "s3" || options.uploadProtocol == .s3 {
      throw Problem(
        .permission,
        "cannot use the service's cloud credentials: only the user that runs transferd, and root, may; "
          + "give an access key of your own: s3://KEY:SECRET@bucket/key")
    }
    if ["sftp", "scp"].contains(url.scheme) {
      throw Problem(
        .permission,
        "cannot use the service's SSH keys: only the user that runs transferd, and root, may; "
          + "give a user name and a password of your own: \(url.scheme)://USER:PASSWORD@host/path")
    }
  }
}

extension JobValidation {
  /// What the service has and its jobs use without being told, only its owner and root may use.
  func checkPrivileges(_ spec: JobSpec) throws(Problem) {
    guard caller.isMember else { return }
    let url = spec.kind == .upload ? try Self.target(spec.url) : try Self.url(spec.url)
    try PrivilegedCredentials.checkUnused(by: spec.upload, url, credentials: spec.credentials)
  }
}

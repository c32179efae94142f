import Store
import TransferAPI
import TransferEngine

/// The service's own credentials: cloud profiles and keys, SSH keys and the SSH agent. Jobs of members of the socket's group
/// must provide their own.
enum PrivilegedCredentials {
  /// Checks that a member's job does not need the service's credentials. The engine enforces the same at each attempt
  /// (`TransferRequest.usesAmbientCredentials`).
  /// - Parameters:
  ///   - url: the job's URL, which may be an `s3:` URL.
  ///   - credentials: the job's user name and password, or access key.
  /// - Throws: `Problem` with `permission`.
  static func checkUnused(
    by options: JobOptions, _ url: RequestURL, credentials: JobSpec.Credentials?
  ) throws(Problem) {
    guard options.s3.profile == nil else {
      throw Problem(
        .permission,
        text:
          "cannot use \(field: "profile"): only the user that runs transferd, and root, may use the service's profiles"
      )
    }
    let isComplete = credentials.map { !$0.username.isEmpty && !$0.password.isEmpty } ?? false
    if isComplete { return }
    if url.scheme == "s3" || options.upload.uploadProtocol == .s3 {
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

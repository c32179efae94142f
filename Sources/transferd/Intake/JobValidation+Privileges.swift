import Store
import TransferAPI

extension JobValidation {
  /// Checks that only the daemon's user and root use the service's credentials, or choose the way to the server.
  func checkPrivileges(_ spec: JobSpec) throws(Problem) {
    try checkRoute(spec.options.network)
    guard !caller.has(.profile) || !caller.has(.serviceCredentials) else { return }
    let url = try Self.target(spec.url)
    try PrivilegedCredentials.checkUnused(by: spec.options, url, credentials: spec.credentials)
  }
}

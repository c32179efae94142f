import Store
import TransferAPI

extension JobValidation {
  /// Checks that only the daemon's user and root use the service's credentials, or choose the way to the server.
  func checkPrivileges(_ spec: JobSpec) throws(Problem) {
    try checkRoute(spec.options.network)
    guard !caller.has(.profile) || !caller.has(.serviceCredentials) else { return }
    for leg in spec.legs {
      try PrivilegedCredentials.checkUnused(by: leg.options, try Self.target(leg.url), credentials: leg.credentials)
    }
  }
}

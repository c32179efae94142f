import Glibc
import Store
import Synchronization
import TransferAPI
import TransferEngine

/// Which servers jobs may connect to: the configured `redirects` policy and its meaning for each user.
///
/// The rules are applied at each attempt for the job's owner, so a reload affects stored jobs too.
final class NetworkRules: Sendable {
  private let configured: Mutex<RedirectPolicy?>
  private let daemon: UInt32

  /// - Parameters:
  ///   - redirects: the configured policy; `nil` if it is not configured.
  ///   - daemon: the daemon's uid.
  init(redirects: RedirectPolicy? = nil, daemon: UInt32 = geteuid()) {
    configured = Mutex(redirects)
    self.daemon = daemon
  }

  func setRedirects(_ redirects: RedirectPolicy?) { configured.withLock { $0 = redirects } }

  /// The redirect policy for a user's jobs. A configured policy applies to all users.
  func redirects(for owner: UInt32) -> RedirectPolicy {
    configured.withLock { $0 } ?? (mayReachAnyAddress(owner) ? .any : .public)
  }

  /// Whether a user's jobs may connect only to public addresses, for job URLs as well as redirects. Otherwise members could
  /// use the daemon to reach hosts that a firewall or the host's own rules block for them. The administrator permits this
  /// with `any`.
  func requiresPublicAddress(_ owner: UInt32) -> Bool { !mayReachAnyAddress(owner) && redirects(for: owner) != .any }

  func apply(to request: inout TransferRequest, of owner: UInt32) {
    request.redirects = redirects(for: owner)
    request.requiresPublicAddress = requiresPublicAddress(owner)
  }

  /// Refuses a new job if every attempt would be refused because of its URLs.
  /// - Parameter urls: the URLs as stored. `s3:` URLs are not checked, because they name a bucket and not a host.
  /// - Throws: `Problem` with `permission`.
  func check(_ urls: [String], of owner: UInt32) throws(Problem) {
    guard requiresPublicAddress(owner) else { return }
    for text in urls where !text.lowercased().hasPrefix("s3:") {
      guard let url = try? RequestURL(text), let reason = url.nonPublicHost else { continue }
      throw Problem(
        .permission,
        "cannot connect to \(url.host): \(reason), and jobs of members of the socket's group reach public addresses only "
          + "(the configuration's redirects: any lifts this)")
    }
  }

  private func mayReachAnyAddress(_ owner: UInt32) -> Bool { Caller(uid: owner, daemon: daemon).has(.anyAddress) }
}

extension JobSpec {
  /// The URLs that the user specified.
  var userURLs: [String] { [url] + [options.upload.endpoint, options.upload.collection].compactMap { $0 } }
}

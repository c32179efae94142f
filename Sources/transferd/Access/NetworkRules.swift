import Glibc
import Store
import Synchronization
import TransferAPI
import TransferEngine

/// Which servers jobs may connect to, and by which way: the configured `redirects` policy, its meaning for each user, and the
/// configured proxy.
///
/// The rules are applied at each attempt for the job's owner, so a reload affects stored jobs too.
final class NetworkRules: Sendable {
  /// The settings, which a reload changes.
  struct Settings: Equatable, Sendable {
    /// `nil` if it is not configured.
    var redirects: RedirectPolicy?
    /// For jobs that name no proxy.
    var proxy = ProxyChoice.direct
    /// What the configuration says about some origins.
    var origins = OriginRules.none
  }

  private let settings: Mutex<Settings>

  /// What the configuration says about an origin; `nil`: nothing.
  func originRule(for origin: String) -> OriginRule? { settings.withLock { $0.origins.rule(for: origin) } }

  private let daemon: UInt32

  /// - Parameter daemon: the daemon's uid.
  init(_ settings: Settings = Settings(), daemon: UInt32 = geteuid()) {
    self.settings = Mutex(settings)
    self.daemon = daemon
  }

  /// Changes the rules for attempts that start from now on.
  func set(_ settings: Settings) { self.settings.withLock { $0 = settings } }

  /// The proxy of jobs that name none.
  func proxy(for origin: String) -> ProxyChoice {
    settings.withLock { $0.origins.rule(for: origin)?.proxy ?? $0.proxy }
  }

  /// The redirect policy for a user's jobs. A configured policy applies to all users.
  func redirects(for owner: UInt32) -> RedirectPolicy {
    settings.withLock { $0.redirects } ?? (mayReachAnyAddress(owner) ? .any : .public)
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
  var userURLs: [String] {
    legs.map(\.url) + options.download.mirrors + [options.s3.endpoint, options.upload.collection].compactMap { $0 }
  }
}

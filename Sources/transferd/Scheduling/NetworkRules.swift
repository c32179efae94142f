import Glibc
import Store
import Synchronization
import TransferAPI
import TransferEngine

/// Where jobs may lead: the configuration's `redirects`, and what it means for the users of this daemon.
///
/// The rules are applied at each attempt, by the job's owner, so that a reload holds for jobs that are stored already.
final class NetworkRules: Sendable {
  private let configured: Mutex<RedirectPolicy?>
  private let daemon: UInt32

  /// - Parameters:
  ///   - redirects: `nil` where the configuration does not say.
  ///   - daemon: the daemon's uid.
  init(redirects: RedirectPolicy? = nil, daemon: UInt32 = geteuid()) {
    configured = Mutex(redirects)
    self.daemon = daemon
  }

  func setRedirects(_ redirects: RedirectPolicy?) { configured.withLock { $0 = redirects } }

  /// What holds for the jobs of a user. A configured policy holds for everybody.
  func redirects(for owner: UInt32) -> RedirectPolicy {
    configured.withLock { $0 } ?? (isMember(owner) ? .public : .any)
  }

  /// Whether a user's jobs connect to public addresses only, whoever names the URL. Members could reach through the daemon
  /// what the firewall or the other end's own rules keep from them; `any` is the administrator's word that they may.
  func requiresPublicAddress(_ owner: UInt32) -> Bool { isMember(owner) && redirects(for: owner) != .any }

  func apply(to request: inout TransferRequest, of owner: UInt32) {
    request.redirects = redirects(for: owner)
    request.requiresPublicAddress = requiresPublicAddress(owner)
  }

  /// Refuses what can be seen to be refused at each attempt, when the job is added.
  /// - Parameter urls: as they are stored; a bucket (`s3:`) is no host.
  /// - Throws: `permission`.
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

  private func isMember(_ uid: UInt32) -> Bool { uid != daemon && uid != 0 }
}

extension JobSpec {
  /// The URLs that the user named.
  var userURLs: [String] { [url] + [upload.endpoint, upload.collection].compactMap { $0 } }
}

import Glibc

/// How the descriptors that the system allows (RLIMIT_NOFILE, getrlimit(2)) are shared out, so that they never run out:
/// a daemon without any can neither answer nor store, and libdispatch ends a process that finds none while it is busy.
/// Pure, but for ``raised()``.
struct DescriptorBudget: Equatable, Sendable {
  /// Clients of the control socket at once. Further ones wait in the socket's queue.
  let clients: Int
  /// Connections kept open for the next transfer.
  let idleConnections: Int
  /// Files that may be verified and named at once, beside the transfers.
  let finishing: Int
  /// Transfers at once.
  let transfers: Int
  /// What all of this is made from.
  let limit: Int

  /// Clients have at most this part: jobs need theirs.
  private static let shareOfClients = 4
  /// The store and its readers, the lock, signals, standard streams, a hook's pipes, a look-up of a name.
  private static let own = 40
  /// Each core has an event loop: an epoll, an eventfd and a timerfd.
  private static let perCore = 3
  /// A transfer has a socket, a directory and a file; FTP has a second socket, an upload in parts several.
  private static let perTransfer = 8
  /// A file that gets its name, and its directory.
  private static let perFinishing = 2

  /// - Parameters:
  ///   - limit: descriptors the process may have.
  ///   - cores: cores it may run on.
  init(limit: Int, cores: Int) {
    self.limit = limit
    clients = max(8, limit / Self.shareOfClients)
    var rest = max(0, limit - clients - Self.own - Self.perCore * cores)
    idleConnections = min(64, max(1, rest / 8))
    rest = max(0, rest - idleConnections)
    finishing = min(256, max(1, rest / 8))
    rest = max(0, rest - Self.perFinishing * finishing)
    transfers = max(1, rest / Self.perTransfer)
  }

  /// Raises the soft limit to the hard one, 65,536 at most, and shares that out.
  static func raised() -> DescriptorBudget {
    var limit = rlimit()
    let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return DescriptorBudget(limit: 256, cores: cores)
    }
    limit.rlim_cur = min(limit.rlim_max, 65536)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return DescriptorBudget(limit: Int(limit.rlim_cur), cores: cores)
  }

  /// What may be done of what is wished.
  func bounding(_ wish: Scheduler.Limits) -> Scheduler.Limits {
    var limits = wish
    limits.admission.maxActive = min(wish.admission.maxActive, transfers)
    limits.maximumFinishing = min(wish.maximumFinishing, finishing)
    return limits
  }

  /// For people: that fewer transfers run than they asked for, why, and what to do. `nil`: they get what they asked for.
  func shortage(for wish: Scheduler.Limits) -> String? {
    guard wish.admission.maxActive > transfers else { return nil }
    return """
      maxActive is \(wish.admission.maxActive), but \(limit) descriptors are enough for \
      \(transfers == 1 ? "1 transfer" : "\(transfers) transfers") at once: raise the hard limit \
      (ulimit -Hn, LimitNOFILE=) or lower maxActive
      """
  }
}

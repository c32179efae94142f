import Glibc

/// Divides the file descriptors that the system allows (RLIMIT_NOFILE, getrlimit(2)), so that they never run out. Without
/// free descriptors the daemon can neither respond nor store, and libdispatch aborts the process. Pure, except for
/// ``raised()``.
struct DescriptorBudget: Equatable, Sendable {
  /// Maximum number of concurrent clients of the control socket. Further clients wait in the socket's backlog.
  let clients: Int
  /// Maximum number of idle connections that are kept for later transfers.
  let idleConnections: Int
  /// Maximum number of files that are verified and renamed concurrently, in addition to the transfers.
  let finishing: Int
  /// Maximum number of concurrent transfers.
  let transfers: Int
  /// The limit that is divided.
  let limit: Int

  /// Clients may use one descriptor in this many; the others are for jobs.
  private static let clientShare = 4
  /// For the store and its readers, the lock, signals, standard streams, a hook's pipes and name resolution.
  private static let reserved = 40
  /// Each core has an event loop with an epoll, an eventfd and a timerfd descriptor.
  private static let perCore = 3
  /// A transfer uses a socket, a directory and a file. FTP uses a second socket, a multipart upload several sockets.
  private static let perTransfer = 8
  /// A file that is being renamed, and its directory.
  private static let perFinishing = 2

  /// - Parameters:
  ///   - limit: the number of descriptors the process may have.
  ///   - cores: the number of cores it may run on.
  init(limit: Int, cores: Int) {
    self.limit = limit
    clients = max(8, limit / Self.clientShare)
    var remaining = max(0, limit - clients - Self.reserved - Self.perCore * cores)
    idleConnections = min(64, max(1, remaining / 8))
    remaining = max(0, remaining - idleConnections)
    finishing = min(256, max(1, remaining / 8))
    remaining = max(0, remaining - Self.perFinishing * finishing)
    transfers = max(1, remaining / Self.perTransfer)
  }

  /// Raises the soft limit to the hard limit, at most 65,536, and divides it.
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

  /// Reduces the configured limits to what the descriptors allow.
  func bounding(_ configured: Scheduler.Limits) -> Scheduler.Limits {
    var limits = configured
    limits.queue.admission.maxActive = min(configured.queue.admission.maxActive, transfers)
    limits.queue.maximumFinishing = min(configured.queue.maximumFinishing, finishing)
    return limits
  }

  /// A warning that fewer transfers run than configured, with the reason and a remedy; `nil` if the descriptors are enough.
  func shortage(for configured: Scheduler.Limits) -> String? {
    guard configured.queue.admission.maxActive > transfers else { return nil }
    return """
      maxActive is \(configured.queue.admission.maxActive), but \(limit) descriptors are enough for \
      \(transfers == 1 ? "1 transfer" : "\(transfers) transfers") at once: raise the hard limit \
      (ulimit -Hn, LimitNOFILE=) or lower maxActive
      """
  }
}

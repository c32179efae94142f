extension NetworkReachabilityManager {
  /// Whether the network, or the host, is reachable.
  public enum NetworkReachabilityStatus: Hashable, Sendable {
    /// The kernel did not respond.
    case unknown
    /// No interface has a route.
    case notReachable
    /// At least one interface is up and has a route.
    case reachable(ConnectionType)

    /// The kind of interface that leads to the network.
    public enum ConnectionType: Hashable, Sendable {
      /// Everything that is not known to be cellular.
      case ethernetOrWiFi
      /// A modem, by the names of the kernel and systemd (`wwan0`, `wwp0s20u4`, `rmnet0`) or by its hardware type.
      case cellular
    }

    /// The first usable path decides. Pure.
    init(_ paths: [NetworkPath]) {
      for path in paths {
        guard let route = path.route, route.leadsSomewhere else { continue }
        // A route may exist although its link has lost its carrier. A route with an unknown link counts.
        if let link = path.link, !link.isUp || !link.isRunning { continue }
        self = .reachable(path.link?.isCellular == true ? .cellular : .ethernetOrWiFi)
        return
      }
      self = .notReachable
    }
  }
}

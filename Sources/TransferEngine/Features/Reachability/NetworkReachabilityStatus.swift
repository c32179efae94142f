/// A network interface, as far as it matters here.
struct NetworkLink: Equatable, Sendable {
  var index: Int32
  var name: String
  /// `ARPHRD_…` of `linux/if_arp.h`.
  var hardwareType: UInt16
  /// Switched on.
  var isUp: Bool
  /// With a carrier: a cable, a radio, a peer (netdevice(7), IFF_RUNNING).
  var isRunning: Bool
}

/// The way the kernel would send to an address.
struct NetworkRoute: Equatable, Sendable {
  var interface: Int32?
  /// It is not one that says no (`unreachable`, `prohibit`, `blackhole`).
  var leadsSomewhere: Bool
}

/// What is known of one address: the way to it, `nil` where there is none, and the link that it goes over.
struct NetworkPath: Equatable, Sendable {
  var route: NetworkRoute?
  var link: NetworkLink?
}

extension NetworkReachabilityManager {
  /// Whether there is a way to the network, or to the host.
  public enum NetworkReachabilityStatus: Hashable, Sendable {
    /// The kernel did not say.
    case unknown
    /// No interface leads anywhere.
    case notReachable
    /// At least one interface is up and has a route.
    case reachable(ConnectionType)

    /// What kind of interface leads to the network.
    public enum ConnectionType: Hashable, Sendable {
      /// Everything that is not known to be cellular.
      case ethernetOrWiFi
      /// A modem, by the kernel's and systemd's names for them (`wwan0`, `wwp0s20u4`, `rmnet0`) or its hardware type.
      case cellular
    }

    /// The first path that leads somewhere decides. Pure.
    init(_ paths: [NetworkPath]) {
      for path in paths {
        guard let route = path.route, route.leadsSomewhere else { continue }
        // A route may outlive its link's carrier; one whose link is not known counts.
        if let link = path.link, !link.isUp || !link.isRunning { continue }
        self = .reachable(path.link?.isCellular == true ? .cellular : .ethernetOrWiFi)
        return
      }
      self = .notReachable
    }
  }
}

extension NetworkLink {
  var isCellular: Bool {
    hardwareType == 519 || ["ww", "rmnet", "ccmni", "hso"].contains { name.hasPrefix($0) }  // ARPHRD_RAWIP
  }
}

/// The relevant facts of a network interface.
struct NetworkLink: Equatable, Sendable {
  var index: Int32
  var name: String
  /// `ARPHRD_…` of `linux/if_arp.h`.
  var hardwareType: UInt16
  /// Whether it is enabled.
  var isUp: Bool
  /// Whether it has a carrier: a cable, a radio, a peer (netdevice(7), IFF_RUNNING).
  var isRunning: Bool
}

extension NetworkLink {
  var isCellular: Bool {
    hardwareType == 519 || ["ww", "rmnet", "ccmni", "hso"].contains { name.hasPrefix($0) }  // ARPHRD_RAWIP
  }
}

/// The route that the kernel would use for an address.
struct NetworkRoute: Equatable, Sendable {
  var interface: Int32?
  /// Whether packets can be sent along the route: false for a route that refuses them (`unreachable`, `prohibit`,
  /// `blackhole`).
  var leadsSomewhere: Bool
}

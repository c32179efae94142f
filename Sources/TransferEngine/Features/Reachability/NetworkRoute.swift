/// The route that the kernel would use for an address.
struct NetworkRoute: Equatable, Sendable {
  var interface: Int32?
  /// Whether it is not a route that refuses (`unreachable`, `prohibit`, `blackhole`).
  var leadsSomewhere: Bool
}

/// The route to one address, `nil` if there is none, and its link.
struct NetworkPath: Equatable, Sendable {
  var route: NetworkRoute?
  var link: NetworkLink?
}

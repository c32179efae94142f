/// The addresses that a transfer may connect to.
enum AddressRule: Sendable, Equatable {
  case any
  /// Only addresses on the public Internet.
  /// - Parameter namedByServer: whether the URL came from a server and not from the user; it decides which error a
  ///   refusal is.
  case publicOnly(namedByServer: Bool)
}

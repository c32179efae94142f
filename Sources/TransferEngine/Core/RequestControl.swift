/// The engine's side of a request's handle; opaque to its users.
public struct RequestControl: Sendable {
  let core: any AnyRequestCore
}

/// The engine's side of a data request's handle; opaque to its users.
public struct DataResponses: Sendable {
  let core: RequestCore<DataOutcome>
}

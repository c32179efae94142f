/// A request of any kind, as `withAllRequests` passes it to its closure.
public final class ActiveRequest: Request {
  public let control: RequestControl

  init(_ core: any AnyRequestCore) { control = RequestControl(core: core) }
}

import Dispatch
import Synchronization

/// Any request of a session, as `withAllRequests` shows it.
public final class ActiveRequest: Request {
  public let control: RequestControl

  init(_ core: any AnyRequestCore) { control = RequestControl(core: core) }
}

public import FoundationEssentials

/// A request whose response fits in memory. A POST that is redirected by 301, 302 or 303 continues as a GET, as in
/// browsers.
public final class DataRequest: DataResponding {
  /// Checks the response: gets the request as it was sent, the head, and the body if there is one.
  public typealias Validation = @Sendable (TransferRequest, ResponseHead, Data?) -> ValidationResult

  public let responses: DataResponses

  init(core: RequestCore<DataOutcome>) {
    responses = DataResponses(core: core)
    core.attach(self)
  }
}

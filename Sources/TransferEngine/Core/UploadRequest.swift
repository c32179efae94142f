/// A request that sends a body of any size, from memory, a file, a stream or a form. The response is kept in memory.
public final class UploadRequest: DataResponding {
  /// Checks the response, as for data requests.
  public typealias Validation = DataRequest.Validation

  public let responses: DataResponses

  init(core: RequestCore<DataOutcome>) {
    responses = DataResponses(core: core)
    core.attach(self)
  }
}

public import FoundationEssentials

/// A request whose answer fits in memory.
public final class DataRequest: Sendable {
  let core: RequestCore<DataResponse>

  init(core: RequestCore<DataResponse>) { self.core = core }

  public var id: RequestID { core.id }
  public var state: RequestState { core.requestState }

  @discardableResult public func resume() -> Self {
    core.resume()
    return self
  }

  @discardableResult public func suspend() -> Self {
    core.suspend()
    return self
  }

  @discardableResult public func cancel() -> Self {
    core.cancel()
    return self
  }

  /// The outcome. Any status is a success here; a missing or broken answer is a failure.
  public func response() async -> DataResponse { await core.value() }
}

public struct DataResponse: Sendable {
  public var head: ResponseHead?
  /// What arrived; the whole body unless `error` is set.
  public var data: Data
  public var error: TransferError?
  public var metrics: [TransferMetrics]
}

public import Logging

/// Logs the events of requests: important ones at debug, others at trace. Never logs a query, a field's value, a body
/// or a password.
public struct LogMonitor: EventMonitor {
  private let logger: Logger

  /// Logs to this logger, at the levels debug and trace.
  public init(logger: Logger = Logger(label: "TransferEngine")) { self.logger = logger }

  public func request(_ id: RequestID, did event: RequestEvent) {
    var metadata: Logger.Metadata = ["request": "\(id.rawValue)"]
    switch event {
    case .resume: logger.debug("request resumed", metadata: metadata)
    case .suspend: logger.debug("request suspended", metadata: metadata)
    case .cancel: logger.debug("request cancelled", metadata: metadata)
    case .adapt(_, let request):
      metadata["what"] = "\(request)"
      logger.trace("request adapted", metadata: metadata)
    case .failToAdapt(_, let error):
      metadata["error"] = "\(error)"
      logger.debug("request not adapted", metadata: metadata)
    case .validate(let error):
      if let error { metadata["error"] = "\(error)" }
      logger.trace("response validated", metadata: metadata)
    case .parse(let error):
      // The error of a serializer may quote the body.
      metadata["outcome"] = error == nil ? "value" : "failure"
      logger.trace("response parsed", metadata: metadata)
    case .send(let request):
      metadata["what"] = "\(request)"
      logger.debug("request sent", metadata: metadata)
    case .redirect(let from, let to):
      metadata["from"] = "\(from.origin)\(from.path)"
      metadata["to"] = "\(to.origin)\(to.path)"
      logger.debug("request redirected", metadata: metadata)
    case .skipServerTrust(let host):
      metadata["host"] = "\(host)"
      logger.debug("the server's identity is not verified", metadata: metadata)
    case .receiveHead(let head):
      metadata["status"] = "\(head.status)"
      logger.trace("head received", metadata: metadata)
    case .refuseToResume(let reason):
      metadata["reason"] = "\(reason)"
      logger.debug("stored bytes not resumed in this way", metadata: metadata)
    case .gatherMetrics(let metrics):
      metadata["seconds"] = "\(metrics.total.inSeconds)"
      metadata["received"] = "\(metrics.bytesReceived)"
      metadata["sent"] = "\(metrics.bytesSent)"
      logger.trace("transfer ended", metadata: metadata)
    case .retry(let delay, let error):
      metadata["delay"] = "\(delay.inSeconds) s"
      metadata["error"] = "\(error)"
      logger.debug("request will be retried", metadata: metadata)
    case .fail(let error):
      metadata["error"] = "\(error)"
      logger.debug("request failed", metadata: metadata)
    case .finish: logger.debug("request finished", metadata: metadata)
    }
  }
}

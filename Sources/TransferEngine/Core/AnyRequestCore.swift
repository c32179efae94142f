/// A request's core without the type of its outcome: the operations that every request handle needs.
protocol AnyRequestCore: AnyObject, Sendable {
  var record: RequestRecord { get }
  var requestState: RequestState { get }
  var retryCount: Int { get }
  func resume()
  func suspend()
  /// - Parameters:
  ///   - cause: the error that the request ends with; `nil` for `.cancelled`.
  ///   - producingResumeData: a download keeps its part file; other requests ignore it.
  func cancel(dueTo cause: TransferError?, producingResumeData: Bool)
  func progress(_ direction: ProgressDirection) -> TransferProgress
  func observe(_ direction: ProgressDirection, _ observer: ValueObserver<TransferProgress>)
  func setRedirectHandler(_ handler: any RedirectHandler)
  func setCredential(_ credential: HTTPCredential)
  /// Returns when the request has ended.
  func ended() async
}

extension AnyRequestCore {
  var id: RequestID { record.id }
  var session: Session { record.session }

  func cancel() { cancel(dueTo: nil, producingResumeData: false) }
}

struct StreamOutcome: RequestOutput {
  typealias Validation = DataStreamRequest.Validation

  var request: TransferRequest?
  var head: ResponseHead?
  var metrics: [TransferMetrics] = []
  var error: TransferError?

  var completion: StreamCompletion {
    StreamCompletion(request: request, response: head, metrics: metrics, error: error)
  }
}

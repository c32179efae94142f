extension Session {
  /// Sends a request once, without retries by the session, and waits for the end of its response.
  /// - Returns: the response's head, whatever its status, or why there is none.
  package func send(_ request: TransferRequest) async -> (head: ResponseHead?, error: TransferError?) {
    let outcome = await exchange(request)
    return (outcome.head, outcome.error)
  }
}

import HTTPTypes

extension UploadClient {
  /// Asks the server which upload protocols it supports (OPTIONS), and caches the result. A failed request counts as no
  /// support and is not cached; the upload itself will report the failure.
  func server(at request: TransferRequest, remembering key: String) async throws(TransferError)
    -> ServerCapabilities.Server
  {
    if let known = session.serverCapabilities.server(at: key) { return known }
    var question = request
    question.method = .options
    let response: UploadResponse
    do throws(TransferError) {
      response = try await send(question)
    } catch .redirect {
      return ServerCapabilities.Server()
    }
    guard let head = response.head, response.failure == nil, head.status < 500, head.status != 429 else {
      return ServerCapabilities.Server()
    }
    let server = ServerCapabilities.Server(
      tus: TusServer(head), isResumable: head.status < 300 && head.field("Upload-Limit") != nil)
    session.serverCapabilities.remember(server, at: key)
    return server
  }
}

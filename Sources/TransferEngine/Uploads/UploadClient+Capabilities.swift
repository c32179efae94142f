import HTTPTypes
import Synchronization

extension UploadClient {
  /// Asks a place what it is. A server that does not say is asked again after a while; a failure says nothing and is none
  /// of the upload's: the upload itself will meet it.
  func server(at request: TransferRequest, remembering key: String) async throws(TransferError)
    -> ServerCapabilities.Server
  {
    if let known = session.serverCapabilities.server(at: key) { return known }
    var question = request
    question.method = .options
    let answer: UploadResponse
    do throws(TransferError) {
      answer = try await send(question)
    } catch .redirect {
      return ServerCapabilities.Server()
    }
    guard let head = answer.head, answer.failure == nil, head.status < 500, head.status != 429 else {
      return ServerCapabilities.Server()
    }
    let server = ServerCapabilities.Server(
      tus: TusServer(head), isResumable: head.status < 300 && head.field("Upload-Limit") != nil)
    session.serverCapabilities.remember(server, at: key)
    return server
  }
}

import HTTPTypes
import WireValues

extension UploadClient {
  /// The length of a resource by HEAD; `nil` if the server does not report it.
  /// - Throws: failures of the connection, and `.cancelled`.
  func length(of request: TransferRequest) async throws(TransferError) -> Int64? {
    var question = request
    question.method = .head
    question.headers[.ifNoneMatch] = nil
    question.headers[.contentType] = nil
    question.headers[.acceptEncoding] = "identity"
    let head = try await send(question).get()
    guard head.status == 200, head.contentCoding == nil else { return nil }
    return try? head.contentLength()
  }
}

extension UploadAttempt {
  /// Compares the stored length with the source. If the server does not report the length, its earlier response
  /// decides.
  /// - Throws: `.upload(.lengthDiffers)`, and `.cancelled`.
  func compareLength(at request: TransferRequest) async throws(TransferError) {
    let length: Int64?
    do throws(TransferError) {
      length = try await wire.length(of: request)
    } catch {
      if error.isCancellation { throw error }
      return
    }
    if let length, length != source.size { throw .upload(.lengthDiffers(expected: source.size, actual: length)) }
  }
}

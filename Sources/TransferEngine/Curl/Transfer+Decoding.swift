/// Decodes the body's content coding, if the request asks for it.
extension Transfer {
  func takeBody(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    guard request.acceptEncoding != nil, let coding = currentHead?.contentCoding, !bytes.isEmpty else {
      return try receiver.receive(bytes)
    }
    if decoder == nil { decoder = try ContentDecoder(coding: coding, limit: request.decodingLimit) }
    guard let decoder else { return .stop }
    return try decoder.take(bytes, receiver.receive)
  }

  /// A body that libcurl considers complete may contain an incomplete coded stream.
  func finishDecoding() {
    guard failure == nil, !isStopped, let decoder else { return }
    do throws(TransferError) {
      try decoder.finish()
    } catch {
      failure = error
    }
  }
}

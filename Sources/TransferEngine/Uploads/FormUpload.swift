import FoundationEssentials
import HTTPTypes
import WireValues

extension FormOptions {
  /// The form as a transfer's body: its own lines in memory, and the file from the attempt's open descriptor.
  func body(of attempt: UploadAttempt, _ request: inout TransferRequest) throws(TransferError) -> UploadBody {
    let source = attempt.source
    let form = MultipartFormData()
    for field in fields { form.append(Data(field.value.utf8), withName: field.name) }
    let name = fileName ?? source.name
    form.append(
      URL(filePath: source.path), withName: fileField, fileName: name,
      mimeType: contentType ?? MediaTypeTable.mediaType(forFileName: name))
    var pieces: [UploadBody.Piece] = []
    for segment in try form.segments() {
      switch segment {
      case .data(let data): pieces.append(.bytes(data))
      case .file(_, let range):
        // The form was made from the file's name, the attempt has the file open: both must be the same file.
        guard range == source.range else { throw .source(.changed(source.path)) }
        pieces.append(.file(source, range))
      case .kept: preconditionFailure("this form is made above, without streams")
      }
    }
    request.headers[.contentType] = form.contentType
    return attempt.body(of: pieces)
  }
}

extension UploadAttempt {
  /// Pieces as a transfer's body; the progress counts only those of the file.
  fileprivate func body(of pieces: [UploadBody.Piece]) -> UploadBody {
    let tracker = tracker
    let number = tracker.newTransfer()
    var before: Int64 = 0
    for piece in pieces {
      if case .file = piece { break }
      before = before.saturatingSum(piece.size)
    }
    let (start, size) = (before, source.size)
    return UploadBody(pieces) { tracker.move(number, to: min(max(0, $0 - start), size)) }  // checked: both ≥ 0
  }
}

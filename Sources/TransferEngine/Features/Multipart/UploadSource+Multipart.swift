extension UploadSource {
  /// A form as it is now.
  convenience init(_ form: MultipartFormData) {
    let body = Result { () throws(TransferError) in try form.requestBody() }
    self.init(contentType: form.contentType) { try body.get() }
  }
}

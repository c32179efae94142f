import WireValues

extension UploadTemplate {
  /// Sets the URL of an upload, and the collection that it is in if the server may speak tus.
  /// - Parameters:
  ///   - keepsPath: whether a slash at the end of the URL adds the relative path in place of the name.
  ///   - namesCollection: `false` keeps the job's own collection.
  public func fill(
    _ job: inout NewJob, for file: UploadedFile, keepsPath: Bool = false, namesCollection: Bool = true
  ) {
    let isForm = job.options.upload.uploadProtocol == .form
    let target = target(for: file, ending: isForm ? .none : keepsPath ? .path : .name)
    job.destination = target.url
    let mayBeTus =
      [.auto, .tus].contains(job.options.upload.uploadProtocol) && target.url.lowercased().hasPrefix("http")
    if namesCollection, mayBeTus { job.options.upload.collection = target.collection }
  }
}

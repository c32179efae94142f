extension Session {
  /// The object that performs a transfer of this URL.
  /// - Throws: `.unsupportedScheme` for a `file:` URL if the session does not allow such URLs.
  func performer(for url: RequestURL) throws(TransferError) -> any TransferPerformer {
    if url.isHTTP { return loop }
    if url.scheme == "file" {
      guard configuration.allowsFileURLs else { throw .unsupportedScheme("file") }
      return remoteLoops.files
    }
    return remoteLoops.loop(for: url.origin)
  }
}

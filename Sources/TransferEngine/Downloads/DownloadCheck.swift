/// A validation that the download's user added.
enum DownloadCheck: Sendable {
  /// Runs when the head has arrived, before any byte is written.
  case head(DownloadRequest.Validation)
  /// Runs when all bytes have arrived, before the file gets its name.
  case file(DownloadRequest.FileValidation)
}

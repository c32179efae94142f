/// How a file was found to be complete.
public enum DownloadVerification: String, Sendable, Codable {
  /// Its digest equals an expected or a declared one.
  case digest
  /// Its length equals the one that the server announced.
  case length
  /// There was neither a length nor a digest: only the end of the connection marks the end of the file.
  case none
}

/// A download's response without a serializer: the finished file's path.
public typealias FileResponse = DownloadResponse<String, TransferError>

public import FoundationEssentials

/// The URL of the downloaded file; does not read the file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
  /// Returns the file's URL.
  public init() {}

  public func serializeDownload(
    request: TransferRequest?, response: ResponseHead?, fileURL: URL?, error: TransferError?
  ) throws(TransferError) -> URL {
    if let error { throw error }
    guard let fileURL else { throw .serialization(.inputFileNil) }
    return fileURL
  }
}

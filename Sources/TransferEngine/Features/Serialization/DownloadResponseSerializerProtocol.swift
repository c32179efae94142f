public import FoundationEssentials

/// Makes a value of a downloaded file.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
  /// The type of the value.
  associatedtype SerializedObject: Sendable

  /// - Parameters:
  ///   - request: the last request; `nil` if there was none.
  ///   - response: the head of the last response; `nil` if there was none.
  ///   - fileURL: the finished file; `nil` if there is none.
  func serializeDownload(
    request: TransferRequest?, response: ResponseHead?, fileURL: URL?, error: TransferError?
  ) throws -> SerializedObject
}

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
  /// Reads the whole file into memory and serializes it like a body.
  public func serializeDownload(
    request: TransferRequest?, response: ResponseHead?, fileURL: URL?, error: TransferError?
  ) throws -> SerializedObject {
    if let error { throw error }
    guard let fileURL else { throw TransferError.serialization(.inputFileNil) }
    let data: Data
    do {
      data = try Data(contentsOf: fileURL)
    } catch {
      throw TransferError.serialization(.inputFileReadFailed(at: fileURL.path, reason: "\(error)"))
    }
    return try serialize(request: request, response: response, data: data, error: nil)
  }
}

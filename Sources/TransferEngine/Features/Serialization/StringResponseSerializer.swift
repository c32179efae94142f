public import FoundationEssentials
public import HTTPTypes

/// The body as text. Without an encoding, the response's charset is used, or else ISO-8859-1, except for media types
/// that are UTF-8 by definition (`TextCharset.of`).
public struct StringResponseSerializer: ResponseSerializer {
  public let dataPreprocessor: any DataPreprocessor
  /// The encoding; `nil`: the response's charset, or else the default of `TextCharset.of`.
  public let encoding: String.Encoding?
  public let emptyResponseCodes: Set<Int>
  public let emptyRequestMethods: Set<HTTPRequest.Method>

  /// The defaults are Alamofire's: empty for 204, 205 and HEAD.
  public init(
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = StringResponseSerializer.defaultEmptyRequestMethods
  ) {
    self.dataPreprocessor = dataPreprocessor
    self.encoding = encoding
    self.emptyResponseCodes = emptyResponseCodes
    self.emptyRequestMethods = emptyRequestMethods
  }

  /// - Throws: `.stringSerializationFailed` for bytes that are not text in the charset, and for an unknown charset: a
  ///   wrong charset would silently change the text.
  public func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws(TransferError) -> String {
    guard let data = try content(request, response, data, error) else { return "" }
    let charset = encoding.map(TextCharset.init) ?? response.map(TextCharset.of) ?? TextCharset(.isoLatin1)
    guard let text = charset.decode(data) else {
      throw .serialization(.stringSerializationFailed(encoding: charset.name))
    }
    return text
  }
}

public import FoundationEssentials

/// Parameters as a property list. Content-Type is `application/x-plist` unless the request has one.
///
/// Unlike JSON it can contain dates and data, but not `nil`.
public struct PropertyListEncoding: ParameterEncoding {
  /// XML, Alamofire's default.
  public static var `default`: PropertyListEncoding { PropertyListEncoding() }
  /// The XML form.
  public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }
  /// The binary form, `bplist00`.
  public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

  /// The format that is written.
  public let format: PropertyListDecoder.PropertyListFormat

  /// Encodes in this form.
  public init(format: PropertyListDecoder.PropertyListFormat = .xml) { self.format = format }

  public func encode(
    _ request: TransferRequest, with parameters: Parameters?
  ) throws(TransferError) -> TransferRequest {
    guard let parameters else { return request }
    let value = ParameterValue(parameters)
    var request = request
    do {
      if let type = value.typeUnfit(allowingDatesAndData: true) {
        throw UnsupportedValue(type: "a value of type \(type)")
      }
      let encoder = PropertyListEncoder()
      encoder.outputFormat = format
      request.setBody(try encoder.encode(value), type: MediaTypes.propertyList)
    } catch {
      throw .parameters(.propertyListEncodingFailed(error: error))
    }
    return request
  }
}

public import FoundationEssentials

/// Parameters as a JSON body. Content-Type is `application/json` unless the request has one.
///
/// Keys are sorted, and `/` is written as `\/`, as `JSONSerialization` does. Values that JSON does not have (dates,
/// data, infinite numbers, objects) are an error.
public struct JSONEncoding: ParameterEncoding {
  /// Compact.
  public static var `default`: JSONEncoding { JSONEncoding() }
  /// With line ends and indentation.
  public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

  /// The layout of the text.
  public let options: JSONEncoder.OutputFormatting

  /// Encodes with these options.
  public init(options: JSONEncoder.OutputFormatting = []) { self.options = options }

  public func encode(
    _ request: TransferRequest, with parameters: Parameters?
  ) throws(TransferError) -> TransferRequest {
    try encode(request, withJSONObject: parameters)
  }

  /// Encodes an array or a dictionary of JSON values.
  /// - Throws: `.parameters(.jsonEncodingFailed)`.
  public func encode(
    _ request: TransferRequest, withJSONObject jsonObject: Any? = nil
  ) throws(TransferError) -> TransferRequest {
    guard let jsonObject else { return request }
    let value = ParameterValue(jsonObject)
    var request = request
    do {
      switch value {
      case .array, .dictionary: break
      default: throw UnsupportedValue(type: "a \(type(of: jsonObject)) that is not in an array or a dictionary")
      }
      if let type = value.typeUnfit(allowingDatesAndData: false) {
        throw UnsupportedValue(type: "a value of type \(type)")
      }
      let encoder = JSONEncoder()
      encoder.outputFormatting = options.union(.sortedKeys)
      request.setBody(try encoder.encode(value), type: MediaTypes.json)
    } catch {
      throw .parameters(.jsonEncodingFailed(error: error))
    }
    return request
  }
}

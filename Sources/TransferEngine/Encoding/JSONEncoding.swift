public import FoundationEssentials

/// Parameters as a JSON body. Content-Type is `application/json` unless the request has one.
///
/// Keys are sorted, and `/` is written `\/`, as `JSONSerialization` does. What JSON cannot hold (dates, data, numbers that
/// are not finite, objects) is an error.
public struct JSONEncoding: ParameterEncoding {
  /// Compact, and slashes not escaped.
  public static var `default`: JSONEncoding { JSONEncoding() }
  /// With line ends and indentation.
  public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

  /// How the text is laid out.
  public let options: JSONEncoder.OutputFormatting

  /// Encodes with these options.
  public init(options: JSONEncoder.OutputFormatting = []) { self.options = options }

  public func encode(
    _ request: TransferRequest, with parameters: Parameters?
  ) throws(TransferError) -> TransferRequest {
    try encode(request, withJSONObject: parameters)
  }

  /// Any array or dictionary that JSON can hold.
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
      default: throw UnfitValue(type: "a \(type(of: jsonObject)) that is not in an array or a dictionary")
      }
      if let type = value.typeUnfit(allowingDatesAndData: false) { throw UnfitValue(type: "a value of type \(type)") }
      let encoder = JSONEncoder()
      encoder.outputFormatting = options.union(.sortedKeys)
      request.setBody(try encoder.encode(value), type: MediaTypes.json)
    } catch {
      throw .parameters(.jsonEncodingFailed(error: error))
    }
    return request
  }
}

/// Parameters as a property list. Content-Type is `application/x-plist` unless the request has one.
///
/// Unlike JSON it holds dates and data; it does not hold `nil`.
public struct PropertyListEncoding: ParameterEncoding {
  /// XML, as Alamofire's default.
  public static var `default`: PropertyListEncoding { PropertyListEncoding() }
  /// The XML form.
  public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }
  /// The binary form, `bplist00`.
  public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

  /// Which of the two forms is written.
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
      if let type = value.typeUnfit(allowingDatesAndData: true) { throw UnfitValue(type: "a value of type \(type)") }
      let encoder = PropertyListEncoder()
      encoder.outputFormat = format
      request.setBody(try encoder.encode(value), type: MediaTypes.propertyList)
    } catch {
      throw .parameters(.propertyListEncodingFailed(error: error))
    }
    return request
  }
}

/// A value that the format has no place for.
struct UnfitValue: Error, CustomStringConvertible {
  let type: String
  var description: String { "\(type) cannot be in it" }
}

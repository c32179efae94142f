import FoundationEssentials

/// The body of a response with a status of 400 or above: `application/problem+json`, RFC 9457.
public struct Problem: Error, Codable, Equatable, Sendable, CustomStringConvertible {
  /// Stable, for scripts.
  public var code: Code
  /// For people: what could not be done, why, what to do.
  public var detail: String
  public var status: Int
  /// The known fields of the request that `detail` names, in the order of their places; `nil`: none. Few and short.
  public var fields: [Field]?

  /// A field of the request that `detail` names.
  public struct Field: Codable, Equatable, Sendable {
    /// In JSON.
    public var name: String
    /// Where the name stands in `detail`: the number of Unicode scalars before it.
    public var at: Int

    public init(name: String, at: Int) {
      self.name = name
      self.at = at
    }
  }

  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
    self.status = code.status
  }

  /// A problem that names fields of the request.
  public init(_ code: Code, text: FieldText) {
    self.init(code, text.description)
    let fields = text.fields
    if !fields.isEmpty { self.fields = fields }
  }

  /// `detail` with places for the names of its fields.
  public var text: FieldText { FieldText(detail, fields: fields ?? []) }

  public var description: String { detail }

  public enum Code: String, Codable, CaseIterable, Sendable {
    case invalid
    case notFound = "not-found"
    case permission
    case notAllowed = "not-allowed"
    case destinationExists = "destination-exists"
    case destinationMissing = "destination-missing"
    /// The file to upload is not there.
    case sourceMissing = "source-missing"
    /// A file that an option names is not there.
    case fileMissing = "file-missing"
    case tooLarge = "too-large"
    case methodNotAllowed = "method-not-allowed"
    case unsupportedMediaType = "unsupported-media-type"
    case diskFull = "disk-full"
    case unavailable
    case `internal`

    public var status: Int {
      switch self {
      case .invalid: 400
      case .permission: 403
      case .notFound: 404
      case .methodNotAllowed: 405
      case .notAllowed, .destinationExists: 409
      case .destinationMissing, .sourceMissing, .fileMissing: 422
      case .tooLarge: 413
      case .unsupportedMediaType: 415
      case .internal: 500
      case .unavailable: 503
      case .diskFull: 507
      }
    }
  }
}

import FoundationEssentials

/// The body of a response with a status of 400 or above: `application/problem+json`, RFC 9457.
public struct Problem: Error, Codable, Equatable, Sendable, CustomStringConvertible {
  /// Stable, for scripts.
  public var code: Code
  /// For people: what could not be done, why, what to do.
  public var detail: String
  public var status: Int

  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
    self.status = code.status
  }

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

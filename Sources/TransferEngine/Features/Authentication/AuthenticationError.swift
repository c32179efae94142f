/// Why a request could not be authenticated; the names are Alamofire's.
public enum AuthenticationError: Error, Sendable, CustomStringConvertible {
  /// There is no credential to apply or to refresh.
  case missingCredential
  /// The credential was refreshed too often within the refresh window.
  case excessiveRefresh

  public var description: String {
    switch self {
    case .missingCredential: "there is no credential"
    case .excessiveRefresh: "the credential was refreshed too often in a short time"
    }
  }
}

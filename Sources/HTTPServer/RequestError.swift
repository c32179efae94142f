import NIOHTTP1

/// Why a request is refused before, or instead of, its handler.
public enum RequestError: Error, Equatable, Sendable, CustomStringConvertible {
  /// It breaks HTTP/1.1; the text says where.
  case malformed(String)
  case headTooLarge(limit: Int)
  case targetTooLong(limit: Int)
  case unsupportedVersion
  case headTimeout
  case bodyTimeout
  /// The connection, or the client's half of it, ended before the body did.
  case bodyCutOff
  case bodyTooLarge(limit: Int)
  /// The memory for bodies is in use by other requests.
  case outOfMemory
  /// The user has as many connections as one user may have.
  case tooManyConnections(limit: Int)

  public var status: HTTPResponseStatus {
    switch self {
    case .malformed, .bodyCutOff: .badRequest
    case .headTooLarge: .requestHeaderFieldsTooLarge
    case .targetTooLong: .uriTooLong
    case .unsupportedVersion: .httpVersionNotSupported
    case .headTimeout, .bodyTimeout: .requestTimeout
    case .bodyTooLarge: .payloadTooLarge
    case .outOfMemory, .tooManyConnections: .serviceUnavailable
    }
  }

  public var description: String {
    switch self {
    case .malformed(let reason): "the request is not valid HTTP/1.1: \(reason)"
    case .headTooLarge(let limit): "the request line and the fields are longer than \(limit) bytes, or too many"
    case .targetTooLong(let limit): "the path and the query are longer than \(limit) bytes"
    case .unsupportedVersion: "only HTTP/1.1 and HTTP/1.0 are supported"
    case .headTimeout: "the request line and the fields did not arrive in time"
    case .bodyTimeout: "the body did not arrive in time"
    case .bodyCutOff: "the body breaks HTTP or was cut off"
    case .bodyTooLarge(let limit): "the body is larger than \(limit) bytes"
    case .outOfMemory: "too many request bodies are being received; try again"
    case .tooManyConnections(let limit):
      "this user has \(limit) connections, the most that one user may have; close some, then try again"
    }
  }
}

extension RequestError {
  /// What the decoder found, for people.
  init(_ error: HTTPParserError) {
    self =
      switch error {
      case .invalidVersion: .unsupportedVersion
      case .invalidMethod: .malformed("the method is not known")
      case .invalidURL, .invalidPath, .invalidHost: .malformed("the target has an invalid character")
      case .invalidHeaderToken: .malformed("a field has an invalid character, or is folded")
      case .invalidContentLength: .malformed("Content-Length is not a length")
      case .unexpectedContentLength: .malformed("Content-Length occurs twice, or together with Transfer-Encoding")
      case .invalidChunkSize: .malformed("the length of a chunk is not a hexadecimal number")
      case .lfExpected, .strictModeAssertion: .malformed("a line does not end with CR LF")
      case .invalidEOFState: .malformed("it is cut off")
      default: .malformed("its framing is ambiguous or broken")
      }
  }
}

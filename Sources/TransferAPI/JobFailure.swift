/// Why an attempt or a job failed, as the API reports it.
public struct JobFailure: Codable, Equatable, Sendable {
  /// A stable string for scripts: `http-404`, `dns`, `disk-full`, … See `Code`.
  public var code: Code
  /// For people: what could not be done, and why. Carries no secrets.
  public var message: String
  /// The status of the response; `nil` if there was no response.
  public var httpStatus: Int?
  /// Whether a later attempt may succeed.
  public var transient: Bool

  public init(code: Code, message: String, httpStatus: Int? = nil, transient: Bool) {
    self.code = code
    self.message = message
    self.httpStatus = httpStatus
    self.transient = transient
  }

  /// The stable codes. Open on purpose: `http-…` has one for every status.
  public struct Code: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }

    public static func http(_ status: Int) -> Code { Code(rawValue: "http-\(status)") }

    /// The status of an `http-…`; `nil` for the others.
    public var httpStatus: Int? { rawValue.hasPrefix("http-") ? Int(rawValue.dropFirst("http-".count)) : nil }

    public static let dns = Code(rawValue: "dns")
    public static let connect = Code(rawValue: "connect")
    /// The network interface that the job must use does not exist.
    public static let network = Code(rawValue: "network")
    public static let tls = Code(rawValue: "tls")
    public static let timeout = Code(rawValue: "timeout")
    public static let stalled = Code(rawValue: "stalled")
    public static let truncated = Code(rawValue: "truncated")
    public static let checksumMismatch = Code(rawValue: "checksum-mismatch")
    public static let sourceChanged = Code(rawValue: "source-changed")
    public static let sourceMissing = Code(rawValue: "source-missing")
    public static let destinationExists = Code(rawValue: "destination-exists")
    public static let destinationMissing = Code(rawValue: "destination-missing")
    /// The file is larger than `maxSize`.
    public static let tooLarge = Code(rawValue: "too-large")
    public static let diskFull = Code(rawValue: "disk-full")
    public static let permission = Code(rawValue: "permission")
    public static let unsupportedProtocol = Code(rawValue: "unsupported-protocol")
    public static let tooManyRedirects = Code(rawValue: "too-many-redirects")
    /// A redirect that may not be followed: https to http, or to something that is not HTTP.
    public static let redirectRefused = Code(rawValue: "redirect-refused")
    /// The server's response breaks the protocol, or is larger than a limit.
    public static let protocolError = Code(rawValue: "protocol")
    /// The disk gave an error other than being full.
    public static let io = Code(rawValue: "io")
    /// The server may or may not have processed the request: only a person can find out.
    public static let outcomeUnknown = Code(rawValue: "outcome-unknown")
    /// A secret reference cannot be resolved.
    public static let credentials = Code(rawValue: "credentials")
    /// The job had not ended by its `deadline`.
    public static let deadline = Code(rawValue: "deadline")
    /// A job that it waits for (`after`) has failed, was cancelled or was removed.
    public static let dependency = Code(rawValue: "dependency")
    public static let cancelled = Code(rawValue: "cancelled")
    public static let `internal` = Code(rawValue: "internal")
  }
}

extension JobFailure {
  private enum CodingKeys: String, CodingKey { case code, message, httpStatus, transient }

  /// Every field is always present; `httpStatus` is null if there was no response.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(message, forKey: .message)
    try container.encode(httpStatus, forKey: .httpStatus)
    try container.encode(transient, forKey: .transient)
  }
}

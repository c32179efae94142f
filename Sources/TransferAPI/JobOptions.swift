import WireValues

/// How a job is to be done: all options of a download or an upload, as one value.
///
/// In JSON every option is a field of one flat object, which also holds the other fields of a job. An option that has its
/// default value is left out. An option is declared here, in `Download` or in `Upload`: as a property and as a line in `visit`.
/// Everything else (reading, writing, storing, redacting, exporting) follows from these two lines.
public struct JobOptions: Equatable, Sendable {
  /// Header fields to send, by name. Values of fields that look like secrets are stored apart and never shown.
  public var headers: [String: String] = [:]
  /// Header fields whose values are looked up at each attempt, by name.
  public var secretHeaders: [String: SecretHeader] = [:]
  /// Where user name and password are looked up at each attempt.
  public var credentials: SecretReference?
  /// Bytes per second, 1 or more; `nil`: no limit.
  public var limitRate: Int64?
  /// Consecutive attempts without progress after which the job fails, 1 or more; `nil`: the daemon's default.
  public var maxAttempts: Int?
  /// Seconds; `nil`: the daemon's default.
  public var connectTimeout: Double?
  /// Seconds without a byte after which an attempt ends; `nil`: the daemon's default.
  public var stallTimeout: Double?
  /// Sent as `User-Agent` in place of the daemon's own.
  public var userAgent: String?
  /// An http or https URL that is sent as `Referer`, without user name and fragment (RFC 9110 §10.1.3).
  public var referer: String?
  /// What happens to the file when the job has completed. A download keeps its file or moves it.
  public var onSuccess = SuccessAction.keep
  /// Proxies, certificates, cookies, addresses.
  public var network = Network()
  /// Start times, deadlines, retries.
  public var schedule = Schedule()
  /// The server and the key of S3 objects.
  public var s3 = S3()
  /// Options that only downloads have.
  public var download = Download()
  /// Options that only listings have.
  public var listing = Listing()
  /// Options that only uploads have.
  public var upload = Upload()
  /// Options that only relays have.
  public var relay = Relay()

  /// Used where neither the job nor the configuration gives `maxAttempts`.
  public static let standardMaxAttempts = 20
  /// The largest value of `maxAttempts`.
  public static let maximumAttempts = 1_000_000

  public init() {}

  /// Names every option that both kinds of jobs have.
  mutating func visitShared(_ visitor: inout some OptionVisitor) throws {
    try visitor.headers("headers", &headers)
    try visitor.map("secretHeaders", &secretHeaders)
    try visitor.option("credentials", &credentials, default: nil)
    try visitor.rate("limitRate", &limitRate)
    try visitor.option("maxAttempts", &maxAttempts, default: nil)
    try visitor.seconds("connectTimeout", &connectTimeout)
    try visitor.seconds("stallTimeout", &stallTimeout)
    try visitor.option("userAgent", &userAgent, default: nil)
    try visitor.url("referer", &referer)
    try visitor.option("onSuccess", &onSuccess, default: .keep)
    try network.visit(&visitor)
    try schedule.visit(&visitor)
  }

  /// Checks each option by itself, and options that exclude each other.
  /// - Parameter scheme: the scheme of the job's URL, in lower case; `nil`: unknown, so that options are not compared with it.
  /// - Throws: `WireError` that says what is wrong, for people.
  public func check(scheme: String? = nil) throws(WireError) {
    if let maxAttempts, !(1...Self.maximumAttempts).contains(maxAttempts) {
      throw WireError(text: "\(field: "maxAttempts") must be from 1 to \(Self.maximumAttempts)")
    }
    if let limitRate, limitRate < 1 {
      throw WireError(text: "\(field: "limitRate") must be 1 byte a second or more")
    }
    _ = try download.digest()
    _ = try download.permissions()
    if case .fixed(let count) = download.segments, count > 1, let scheme, !["http", "https", "s3"].contains(scheme) {
      throw WireError(
        text: "\(field: "segments") is for http, https and s3: a file is fetched by one connection with \(scheme)")
    }
    if download.remoteTime, scheme == "scp" {
      throw WireError(
        text: "\(field: "remoteTime") is not for scp, which cannot tell the time of a file; use sftp, or leave it out")
    }
    try download.checkFreshURL(scheme: scheme)
    try checkFreshness(scheme: scheme)
    try checkSources(scheme: scheme)
    try checkHeaders(scheme: scheme)
    try network.check(scheme: scheme)
    try schedule.check()
    if network.cookies != nil { try checkIsOnlyOption("cookies", sentAs: "Cookie") }
    if let userAgent { try check("userAgent", userAgent, sentAs: "User-Agent", scheme: scheme) }
    if let referer {
      try check("referer", referer, sentAs: "Referer", scheme: scheme)
      let parts = URLReference(referer)
      guard let protocolName = parts.scheme?.lowercased(), ["http", "https"].contains(protocolName),
        let authority = parts.authority, !authority.isEmpty
      else { throw WireError(text: "\(field: "referer") must be an http or https URL") }
      guard authority.firstIndex(ofASCII: "@") == nil, parts.fragment == nil else {
        throw WireError(
          text: "\(field: "referer") has a user name or a fragment, which must not be sent; leave them out")
      }
    }
  }

  private func checkHeaders(scheme: String?) throws(WireError) {
    if let scheme, !["http", "https", "s3"].contains(scheme), !headers.isEmpty || !secretHeaders.isEmpty {
      let name = headers.isEmpty ? "secretHeaders" : "headers"
      throw WireError(text: "\(field: name) is for http, https and s3: \(scheme) has no header fields")
    }
    guard headers.count <= HeaderRules.maximumCount else {
      throw WireError(text: "\(field: "headers") has more than \(HeaderRules.maximumCount) header fields")
    }
    let bytes = headers.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    guard bytes <= HeaderRules.maximumBytes else {
      throw WireError(text: "\(field: "headers") has more than \(HeaderRules.maximumBytes) bytes")
    }
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) { try Self.check("headers", name, value) }
    let names = Set(headers.keys.map { $0.lowercased() })
    for name in secretHeaders.keys.sorted() {
      try Self.check("secretHeaders", name, "")
      guard !names.contains(name.lowercased()) else {
        throw WireError(
          text: "the header \(name) is given twice: in \(field: "headers") and in \(field: "secretHeaders")")
      }
    }
  }

  private static func check(_ option: String, _ name: String, _ value: String) throws(WireError) {
    do throws(WireError) {
      try HeaderRules.check(name: name, value: value)
    } catch {
      throw error.about(option)
    }
  }

  /// Checks an option that is sent as a header field: by HTTP only, and only once.
  private func check(
    _ option: String, _ value: String, sentAs header: String, scheme: String?
  ) throws(WireError) {
    guard !value.isEmpty else { throw WireError(text: "\(field: option) is empty") }
    do throws(WireError) {
      try HeaderRules.check(value: value, of: header)
    } catch {
      throw error.about(option)
    }
    try checkIsOnlyOption(option, sentAs: header)
    if let scheme, !["http", "https", "s3"].contains(scheme) {
      throw WireError(text: "\(field: option) is for http, https and s3: \(scheme) has no header fields")
    }
  }

  /// An option that is sent as a header field must not be among the header fields, too.
  func checkIsOnlyOption(_ option: String, sentAs header: String) throws(WireError) {
    func gives(_ names: some Sequence<String>) -> Bool { names.contains { $0.lowercased() == header.lowercased() } }
    let others: String? = gives(headers.keys) ? "headers" : gives(secretHeaders.keys) ? "secretHeaders" : nil
    guard let others else { return }
    throw WireError(text: "the header \(header) is given twice: by \(field: option) and in \(field: others)")
  }
}

import WireValues

extension JobOptions {
  /// How a job reaches its server. Downloads and uploads have these options.
  public struct Network: Equatable, Sendable {
    /// The URL of a proxy (`http`, `https`, `socks5` or `socks5h`), or `none` for a direct connection; `nil`: what the daemon's
    /// configuration says.
    public var proxy: String?
    /// Where the proxy's user name and password are looked up at each attempt.
    public var proxyCredentials: SecretReference?
    /// A file of cookies in the format of Netscape, read at each attempt.
    public var cookies: String?
    /// A PEM file of certificate authorities that replaces the system's, read at each attempt.
    public var ca: String?
    /// A PEM file with the client's certificate, and its key unless `certKey` has it; read at each attempt.
    public var cert: String?
    /// A PEM file with the key of `cert`.
    public var certKey: String?
    /// Do not check who the server is: an attacker on the network can read and change everything.
    public var insecure = false
    /// `4` or `6`; `nil`: both.
    public var ipVersion: Int?
    /// The network interface by which every connection leaves. While it does not exist, the job waits.
    public var interface: String?
    /// `1.1`; `nil`: what server and daemon agree on.
    public var httpVersion: String?
    /// `HOST:PORT:ADDRESS`: connects to this address instead of those that the DNS has.
    public var resolve: [String] = []
    /// HTTP statuses after which the job is tried again, in addition to those that are known to be temporary.
    public var retryStatus: [Int] = []

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.url("proxy", &proxy)
      try visitor.option("proxyCredentials", &proxyCredentials, default: nil)
      try visitor.option("cookies", &cookies, default: nil)
      try visitor.option("ca", &ca, default: nil)
      try visitor.option("cert", &cert, default: nil)
      try visitor.option("certKey", &certKey, default: nil)
      try visitor.option("insecure", &insecure, default: false)
      try visitor.option("ipVersion", &ipVersion, default: nil)
      try visitor.option("interface", &interface, default: nil)
      try visitor.option("httpVersion", &httpVersion, default: nil)
      try visitor.option("resolve", &resolve, default: [])
      try visitor.option("retryStatus", &retryStatus, default: [])
    }

    /// The value of `proxy` for a direct connection.
    public static let direct = "none"
    static let proxySchemes = ["http", "https", "socks5", "socks5h"]
    /// Most entries of `resolve` and of `retryStatus`.
    static let maximumEntries = 100

    /// The files that the options name, with the option of each.
    public var files: [(option: String, path: String)] {
      [("ca", ca), ("cert", cert), ("certKey", certKey), ("cookies", cookies)].compactMap { name, path in
        path.map { (name, $0) }
      }
    }

    /// Checks each option by itself, and options that exclude each other.
    /// - Parameter scheme: the scheme of the job's URL; `nil`: unknown.
    /// - Throws: `WireError` that says what is wrong, for people, without a password.
    func check(scheme: String?) throws(WireError) {
      try checkProxy()
      try checkTLS(scheme: scheme)
      for (option, path) in files {
        guard path.isAbsolutePath, path.utf8.count <= 4000, !path.utf8.contains(0) else {
          throw WireError(text: "\(field: option) must be the absolute path of a file")
        }
      }
      if cookies != nil { try Self.check("cookies", isFor: ["http", "https"], scheme) }
      if let ipVersion, ipVersion != 4, ipVersion != 6 { throw WireError(text: "\(field: "ipVersion") must be 4 or 6") }
      if let interface { try Self.check(interface: interface) }
      if let httpVersion {
        guard httpVersion == "1.1" else { throw WireError(text: "\(field: "httpVersion") must be \"1.1\"") }
        try Self.check("httpVersion", isFor: ["http", "https", "s3"], scheme)
      }
      guard resolve.count <= Self.maximumEntries else {
        throw WireError(text: "\(field: "resolve") has more than \(Self.maximumEntries) entries")
      }
      if !retryStatus.isEmpty {
        guard retryStatus.count <= Self.maximumEntries, retryStatus.allSatisfy((400...599).contains) else {
          throw WireError(
            text:
              "\(field: "retryStatus") must be a list of at most \(Self.maximumEntries) HTTP statuses from 400 to 599")
        }
        try Self.check("retryStatus", isFor: ["http", "https", "s3"], scheme)
      }
    }

    /// The kernel's own rule (`dev_valid_name`): at most 15 bytes without slashes, colons and white space.
    private static func check(interface name: String) throws(WireError) {
      let isValid = name.utf8.allSatisfy {
        (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":")
      }
      guard (1...15).contains(name.utf8.count), isValid, name != ".", name != ".." else {
        throw WireError(
          text:
            "\(field: "interface") must be the name of a network interface, like eth0: at most 15 letters and digits")
      }
    }

    private func checkProxy() throws(WireError) {
      if proxyCredentials != nil, proxy == nil || proxy == Self.direct {
        throw WireError(text: "\(field: "proxyCredentials") is for a proxy; name it with \(field: "proxy")")
      }
      guard let proxy, proxy != Self.direct else { return }
      guard proxy.utf8.count <= 2048 else { throw WireError(text: "\(field: "proxy") is longer than 2048 bytes") }
      let url: URLText
      do {
        url = try URLText(proxy)
      } catch {
        throw WireError(
          text: "\(field: "proxy"): the URL \(error); write http://HOST:PORT, or none for a direct connection")
      }
      guard Self.proxySchemes.contains(url.scheme) else {
        throw WireError(
          text: "\(field: "proxy") is \(Self.proxySchemes.joined(separator: ", ")) or none, not \(url.scheme)")
      }
      let authority = proxy.dropFirst(url.scheme.utf8.count + "://".utf8.count)
      let path = authority[authority.prefix(upToASCII: "/?#").endIndex...]
      guard path.isEmpty || path == "/" else {
        throw WireError(
          text: "\(field: "proxy"): the URL has a path or a query; write \(url.scheme)://HOST:PORT")
      }
      if proxyCredentials != nil, authority.contains("@") {
        throw WireError(
          text:
            "the URL of \(field: "proxy") has credentials, and so has \(field: "proxyCredentials"); give one of them")
      }
    }

    private func checkTLS(scheme: String?) throws(WireError) {
      if certKey != nil, cert == nil {
        throw WireError(text: "\(field: "certKey") is the key of \(field: "cert"), which is missing")
      }
      if insecure, ca != nil {
        throw WireError(
          text: "with \(field: "insecure") no certificate is checked, so \(field: "ca") has no use; give one of them")
      }
      // A redirect may lead from http to https, but the certificate stays with its origin.
      let used = [("insecure", insecure), ("ca", ca != nil)].first { $0.1 }
      if let used { try Self.check(used.0, isFor: ["http", "https", "s3", "ftps", "ftpes"], scheme) }
      if cert != nil { try Self.check("cert", isFor: ["https", "s3", "ftps", "ftpes"], scheme) }
    }

    private static func check(_ option: String, isFor schemes: [String], _ scheme: String?) throws(WireError) {
      guard let scheme, !schemes.contains(scheme) else { return }
      throw WireError(text: "\(field: option) is for \(schemes.joined(separator: ", ")), not for \(scheme)")
    }
  }
}

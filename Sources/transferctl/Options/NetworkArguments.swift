import ArgumentParser
import Glibc
import TransferAPI

/// The options of `add` and `upload` that say how the server is reached.
struct NetworkArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The proxy: http, https, socks5 or socks5h://HOST:PORT; none for none.", valueName: "url"))
  var proxy: String?

  @Option(
    help: ArgumentHelp(
      "The source of the proxy's user name and password, read at each attempt, as for --credentials.",
      valueName: "reference"))
  var proxyCredentials: String?

  @Option(
    help: ArgumentHelp("Send the cookies of this file (Netscape format).", valueName: "file"), completion: .file())
  var cookies: String?

  @Option(
    help: ArgumentHelp("Trust the certificate authorities of this PEM file only.", valueName: "file"),
    completion: .file())
  var ca: String?

  @Option(
    help: ArgumentHelp("The PEM file of the client certificate to present.", valueName: "file"), completion: .file())
  var cert: String?

  @Option(
    help: ArgumentHelp("The PEM file of the key of --cert, if it is in another file.", valueName: "file"),
    completion: .file())
  var certKey: String?

  @Flag(help: "Do not check the server's certificate: an attacker on the network can read and change everything.")
  var insecure = false

  @Flag(name: .customShort("4"), help: "Connect over IPv4 only.")
  var ipv4 = false

  @Flag(name: .customShort("6"), help: "Connect over IPv6 only.")
  var ipv6 = false

  @Option(help: ArgumentHelp("Connect by this network interface only; wait while it is missing.", valueName: "name"))
  var interface: String?

  @Option(
    help: ArgumentHelp("Connect to this address for a host and port; repeatable.", valueName: "host:port:address"))
  var resolve: [String] = []

  @Flag(name: .customLong("http1.1"), help: "Use HTTP/1.1, not HTTP/2.")
  var http1 = false

  @Option(
    help: ArgumentHelp("Try again after these HTTP statuses, too: 404,423.", valueName: "list"))
  var retryStatus: String?

  func validate() throws {
    if ipv4, ipv6 { throw ValidationError("-4 and -6 exclude each other.") }
    for (name, path) in files where path.isEmpty { throw ValidationError("\(name) is empty.") }
  }

  private var files: [(String, String)] {
    [("--cookies", cookies), ("--ca", ca), ("--cert", cert), ("--cert-key", certKey)].compactMap { name, path in
      path.map { (name, $0) }
    }
  }

  /// The options, with absolute paths.
  func options(_ paths: PathResolver) throws -> JobOptions.Network {
    var options = JobOptions.Network()
    options.proxy = proxy
    options.proxyCredentials = try proxyCredentials.map { text in
      try validated(about: "proxyCredentials") { try SecretReference(parsing: text) }
    }
    options.cookies = try cookies.map { try paths.absolute($0) }
    options.ca = try ca.map { try paths.absolute($0) }
    options.cert = try cert.map { try paths.absolute($0) }
    options.certKey = try certKey.map { try paths.absolute($0) }
    options.insecure = insecure
    options.ipVersion = ipv4 ? 4 : ipv6 ? 6 : nil
    options.interface = interface
    options.resolve = resolve
    options.httpVersion = http1 ? "1.1" : nil
    options.retryStatus = try statuses()
    return options
  }

  /// Checks the job's idempotency key. curl's `--key` is the file of the certificate's key: such a file is refused.
  func check(key: String?) throws {
    guard let key else { return }
    if key.isEmpty { throw ValidationError("--key is empty.") }
    guard cert != nil, access(key, F_OK) == 0 else { return }
    throw ValidationError("--key \(key) is a file, but names the job: did you mean --cert-key?")
  }

  private func statuses() throws -> [Int] {
    guard let retryStatus else { return [] }
    return try retryStatus.split(separator: ",", omittingEmptySubsequences: false).map { word in
      guard let status = Int(word), (400...599).contains(status) else {
        throw ValidationError("--retry-status is a list of HTTP statuses from 400 to 599, like 404,423.")
      }
      return status
    }
  }
}

/// The parts of a URL from which names of files are made. Every name is safe: see `SafeName`.
public struct URLNames: Sendable {
  private let reference: URLReference

  public init(_ url: String) { reference = URLReference(url) }

  /// The host in lower case, without port and without the brackets of an IPv6 address.
  public var host: String? {
    guard var host = reference.authority else { return nil }
    if let at = host.lastIndex(ofASCII: "@") { host = host.suffix(after: at) }
    if host.utf8.first == UInt8(ascii: "[") {
      host = host.dropFirst().prefix(upToASCII: "]")
    } else {
      host = host.prefix(upToASCII: ":")
    }
    return SafeName.made(of: host.lowercased())
  }

  /// The decoded segments of the path, not made safe; without empty ones and without `.` and `..`.
  public var segments: [String] {
    path.componentsOfPath.map { $0.percentDecoded ?? String($0) }
  }

  /// The name of the file; `nil` if the URL ends with a slash or nothing usable is left.
  public var name: String? { SafeName.made(ofURLPath: path) }

  /// The directories of the path, each made safe; those of which nothing is left are missing.
  public var directories: [String] {
    let names = path.split(atASCII: "/", keepsEmpty: true).dropLast()
    return names.compactMap { SafeName.made(of: $0.percentDecoded ?? String($0)) }
  }

  private var path: String { URLReference.withoutDots(reference.path) }
}

import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Makes downloads from a list of URLs that share their options. The options are checked once, and so is each server.
///
/// The first URL of a server goes through `JobValidation` and libcurl's parser. A further URL of that server takes the same
/// job with another path, if the path has only bytes that the parser and `SafeFileName` leave as they are. Every other URL
/// is validated and parsed in full.
struct DownloadList {
  private let validation: JobValidation
  private let network: NetworkRules
  private let job: NewJob
  /// The directory with a slash at its end.
  private let directory: String
  /// The first job of each known server, by `scheme://authority` as written in the list.
  private var servers: [Prefix: JobSpec] = [:]
  private var last: (prefix: Prefix, spec: JobSpec)?

  /// Maximum number of servers whose job is kept.
  private static let maximumServers = 256

  private struct Prefix: Hashable {
    let bytes: [UInt8]

    func begins(_ text: UnsafeRawBufferPointer) -> Bool {
      text.count > bytes.count && bytes.withUnsafeBytes { memcmp($0.baseAddress!, text.baseAddress!, $0.count) == 0 }
    }
  }

  /// - Parameter job: the common options.
  /// - Throws: `Problem` for an option that is wrong for every URL.
  init(_ job: NewJob, _ validation: JobValidation, _ network: NetworkRules) throws(Problem) {
    guard job.destination == nil else {
      throw Problem(
        .invalid, text: "\(field: "destination") names one file; give \(field: "directory") for a list")
    }
    guard job.key == nil else {
      throw Problem(.invalid, text: "\(field: "key") names one job; a list of URLs cannot have one")
    }
    guard let directory = job.directory else {
      throw Problem(.invalid, text: "missing field \"\(field: "directory")\"")
    }
    let checked = try JobValidation.checked(directory, true)
    self.directory = checked
    self.job = job
    self.validation = validation
    self.network = network
    // A sample URL, with which errors of the options themselves are found.
    var sample = job
    sample.source = "http://localhost/x"
    // Errors that depend on the scheme or the server are reported for the line.
    sample.options.userAgent = nil
    sample.options.referer = nil
    sample.options.s3 = JobOptions.S3()
    try validated { try job.options.check() }
    _ = try validation.spec(sample)
  }

  /// Makes the job of a URL.
  /// - Parameter url: the bytes as written in the list, without blanks around them.
  mutating func spec(_ url: UnsafeRawBufferPointer) -> Result<JobSpec, Problem> {
    if let last, last.prefix.begins(url), let spec = Self.spec(url, like: last.spec, last.prefix, directory) {
      return .success(spec)
    }
    if let prefix = Self.prefix(of: url), let known = servers[prefix] {
      last = (prefix, known)
      if let spec = Self.spec(url, like: known, prefix, directory) { return .success(spec) }
    }
    return slowly(url)
  }

  private mutating func slowly(_ url: UnsafeRawBufferPointer) -> Result<JobSpec, Problem> {
    guard let text = String(validating: url, as: UTF8.self) else {
      return .failure(Problem(.invalid, "the URL is not valid UTF-8"))
    }
    do throws(Problem) {
      var job = job
      job.source = text
      let spec = try validation.spec(job)
      try network.check(spec.userURLs, of: spec.owner)
      remember(spec, of: url, text)
      return .success(spec)
    } catch {
      return .failure(error)
    }
  }

  /// Remembers the server if the parser has left its URL as it was written.
  private mutating func remember(_ spec: JobSpec, of url: UnsafeRawBufferPointer, _ text: String) {
    guard let prefix = Self.prefix(of: url), spec.source == text, spec.credentials == nil, servers[prefix] == nil
    else { return }
    if servers.count >= Self.maximumServers { servers.removeAll(keepingCapacity: true) }
    servers[prefix] = spec
    last = (prefix, spec)
  }

  /// `scheme://authority` of a plain http or https URL; `nil` if there is no path or the authority is unusual.
  private static func prefix(of url: UnsafeRawBufferPointer) -> Prefix? {
    guard url.starts(with: "http://".utf8) || url.starts(with: "https://".utf8) else { return nil }
    let start = url[4] == UInt8(ascii: "s") ? 8 : 7
    var end = start
    while end < url.count, url[end] != UInt8(ascii: "/") {  // checked: an index of the text
      guard isHostByte(url[end]) else { return nil }
      end += 1  // checked: an index of the text
    }
    guard end > start, end < url.count else { return nil }
    return Prefix(bytes: Array(url[..<end]))
  }

  /// Letters in lower case, digits, `-`, `.` and the colon of a port.
  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: ":"):
      true
    default: false
    }
  }

  /// The job of a server with another path; `nil` if the path needs the parser.
  private static func spec(
    _ url: UnsafeRawBufferPointer, like known: JobSpec, _ prefix: Prefix, _ directory: String
  ) -> JobSpec? {
    let path = UnsafeRawBufferPointer(rebasing: url[prefix.bytes.count...])
    guard url.count <= JobValidation.maximumURLBytes, let name = plainName(of: path) else { return nil }
    var spec = known
    spec.source = String(decoding: url, as: UTF8.self)
    // With `nameFromResponse` the destination is the directory for every URL.
    guard !known.options.download.nameFromResponse else {
      return known.destination.hasTrailingSlash ? spec : nil
    }
    guard !known.destination.hasTrailingSlash,
      // checked: a URL has at most 32 KiB, a directory 4,000 bytes
      directory.utf8.count + name.count <= JobValidation.maximumPathBytes
    else { return nil }
    spec.destination = directory + String(decoding: name, as: UTF8.self)
    return spec
  }

  /// The last segment of a path that libcurl's parser and `SafeFileName` leave as it is; `nil` for any other path.
  private static func plainName(of path: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard path.first == UInt8(ascii: "/") else { return nil }
    var start = 0
    for (index, byte) in path.enumerated() {
      if byte == UInt8(ascii: "/") {
        start = index + 1  // checked: an index of the text
        continue
      }
      // A segment that begins with a dot may be `.` or `..`.
      guard isPathByte(byte), index != start || byte != UInt8(ascii: ".") else { return nil }
    }
    let name = UnsafeRawBufferPointer(rebasing: path[start...])  // checked: at most the text's length
    guard let first = name.first, let last = name.last, name.count <= SafeFileName.maximumBytes,
      first != UInt8(ascii: "-"), first != UInt8(ascii: "~"), last != UInt8(ascii: ".")
    else { return nil }
    return name
  }

  /// Unreserved characters and the harmless delimiters (RFC 3986 §2). Escapes, queries and fragments need the parser.
  private static func isPathByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "@"), UInt8(ascii: ":"): true
    default: byte.isUnreserved
    }
  }
}

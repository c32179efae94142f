import FoundationEssentials
import HTTPTypes
import Synchronization
import WireValues

/// Lists directories of one server: pages that web servers make of directories, WebDAV, S3 prefixes, FTP and SFTP.
///
/// What a server can do is found out with the first directory and remembered: PROPFIND before GET, MLSD before LIST. Redirects are not
/// followed: what is listed is below the URL that was given. A document is read as it arrives and not kept.
public final class DirectoryLister: Sendable {
  /// How the entries of a directory arrive.
  public struct Page: Sendable {
    /// Entries that were not handed over before.
    public var entries: [DirectoryEntry] = []
    /// Entries that cannot be used, among all of this page.
    public var refused = 0
    /// What the next request for this directory has to name; `nil`: there are no more pages.
    public var next: String?
  }

  private enum Ability: Sendable { case unknown, present, missing }
  private struct State {
    var webDAV = Ability.unknown
    var machineList = Ability.unknown
  }

  private let session: Session
  private let request: TransferRequest
  private let interceptor: (any RequestInterceptor)?
  private let state = Mutex(State())

  /// Entries that are handed over together.
  static let chunk = 500
  /// Entries of a page of a bucket, which are never handed over in parts: a thousand by the protocol.
  static let largestPage = 10_000
  /// Bytes of one document.
  static let maximumBytes: Int64 = 8 << 30

  /// - Parameters:
  ///   - request: headers, credentials, limits and the URL of a directory of the server; for `s3:` the interceptor has to be an
  ///     `S3Adapter`, or hold one.
  ///   - interceptor: adapts each request.
  public init(session: Session, request: TransferRequest, interceptor: (any RequestInterceptor)? = nil) {
    self.session = session
    self.request = request
    self.interceptor = interceptor
  }

  /// Schemes of servers whose directories can be listed.
  public static let schemes = ["http", "https", "s3", "ftp", "ftpes", "ftps", "sftp"]

  /// Lists one directory, or one page of it.
  /// - Parameters:
  ///   - directory: its path ends with a slash. An `s3:` URL names the prefix.
  ///   - page: `next` of the page before.
  ///   - isFlat: for `s3:`: entries of directories below this one are listed, too.
  ///   - take: called with entries while the document is read; what it throws ends the listing.
  /// - Returns: the rest of the page.
  /// - Throws: `TransferError`, or what `take` throws.
  public func list(
    _ directory: RequestURL, page: String? = nil, isFlat: Bool = false,
    _ take: @escaping @Sendable ([DirectoryEntry]) async throws -> Void
  ) async throws -> Page {
    guard Self.schemes.contains(directory.scheme) else { throw TransferError.unsupportedScheme(directory.scheme) }
    switch directory.scheme {
    case "http", "https": return try await listHTTP(directory, take)
    case "s3": return try await listBucket(directory, page: page, isFlat: isFlat)
    case "sftp": return try await listLines(directory, take)
    default: return try await listFTP(directory, take)
    }
  }

  private func described(_ url: RequestURL) -> TransferRequest {
    var request = request
    request.url = url
    request.redirects = .sameOrigin
    return request
  }

  // MARK: Web servers

  private static let propfind = HTTPRequest.Method("PROPFIND")!
  private static let question =
    #"<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>"#

  private func listHTTP(
    _ directory: RequestURL, _ take: @escaping @Sendable ([DirectoryEntry]) async throws -> Void
  ) async throws -> Page {
    let known = state.withLock(\.webDAV)
    if known != .missing {
      var hasHead = false
      do {
        let page = try await listWebDAV(directory, take) { hasHead = true }
        state.withLock { $0.webDAV = .present }
        return page
      } catch TransferError.response(.unacceptableStatus) where known == .unknown {
        state.withLock { $0.webDAV = .missing }
      } catch TransferError.connection(.broken) where known == .unknown && !hasHead {
        // Some firewalls end the connection at a method that they do not know.
        state.withLock { $0.webDAV = .missing }
      }
    }
    var request = described(directory)
    request.headers[.accept] = "text/html, application/xhtml+xml;q=0.9"
    var parser = HTMLIndexParser()
    return try await read(request, &parser, statuses: [200], take) { head throws(TransferError) in
      guard head?.headers[.contentType]?.lowercased().contains("html") == true else {
        throw .response(
          .malformed("it is no list of a directory: its type is \(head?.headers[.contentType] ?? "unknown")"))
      }
    }
  }

  private func listWebDAV(
    _ directory: RequestURL, _ take: @escaping @Sendable ([DirectoryEntry]) async throws -> Void,
    didReceiveHead: () -> Void
  ) async throws -> Page {
    var request = described(directory)
    request.method = Self.propfind
    request.headers[.depth] = "1"
    request.headers[.contentType] = "application/xml; charset=utf-8"
    request.body = .data(Data(Self.question.utf8))
    var parser = try XMLListParser(.multistatus)
    return try await read(request, &parser, statuses: [207], take) { _ in didReceiveHead() }
  }

  // MARK: S3

  private func listBucket(_ directory: RequestURL, page: String?, isFlat: Bool) async throws -> Page {
    var query = [("encoding-type", "url"), ("list-type", "2"), ("max-keys", "1000")]
    if let page { query.append(("continuation-token", page)) }
    if !isFlat { query.append(("delimiter", "/")) }
    query.append(
      ("prefix", directory.path.dropFirst().percentDecodedBytes.map { String(decoding: $0, as: UTF8.self) } ?? ""))
    let text = query.map { "\($0)=\($1.percentEncoded(allowing: .unreserved))" }.joined(separator: "&")
    let request = described(try RequestURL(allowingS3: "s3://\(directory.host)/?\(text)"))
    var parser = try XMLListParser(.bucket)
    var result = try await read(request, &parser, statuses: [200], rule: EntryRule(directory: directory), nil)
    result.next = parser.nextPage
    return result
  }

  // MARK: File servers

  private func listFTP(
    _ directory: RequestURL, _ take: @escaping @Sendable ([DirectoryEntry]) async throws -> Void
  ) async throws -> Page {
    let known = state.withLock(\.machineList)
    if known != .missing {
      var request = described(directory)
      request.method = .machineList
      var parser = LineListParser { MachineListLine.item($0) }
      do {
        let page = try await read(request, &parser, statuses: nil, take)
        state.withLock { $0.machineList = .present }
        return page
      } catch TransferError.remote(let failure) where known == .unknown && !failure.isTransient {
        // The server may not know the command. If the directory is missing, LIST says so, too.
        state.withLock { $0.machineList = .missing }
      }
    }
    return try await listLines(directory, take)
  }

  private func listLines(
    _ directory: RequestURL, _ take: @escaping @Sendable ([DirectoryEntry]) async throws -> Void
  ) async throws -> Page {
    var parser = LineListParser { LongListLine.item($0) }
    return try await read(described(directory), &parser, statuses: nil, take)
  }

  // MARK: Reading

  /// - Parameters:
  ///   - statuses: acceptable ones; `nil`: the protocol has none.
  ///   - take: `nil`: all entries are returned together.
  ///   - check: examines the head before the body is read.
  private func read(
    _ request: TransferRequest, _ parser: inout some ListingParser, statuses: Set<Int>?, rule: EntryRule? = nil,
    _ take: (@Sendable ([DirectoryEntry]) async throws -> Void)?,
    check: (ResponseHead?) throws(TransferError) -> Void = { _ throws(TransferError) in }
  ) async throws -> Page {
    let rule = rule ?? EntryRule(directory: request.url)
    var isFramed = true
    let stream = session.streamRequest(request, interceptor: interceptor).redirect(
      using: Redirector(behavior: .doNotFollow))
    if let statuses {
      stream.validate(statusCode: statuses)
      let head = try await withTaskCancellationHandler {
        try await stream.responseHead()
      } onCancel: {
        stream.cancel()
      }
      if head.isRedirect {
        stream.cancel()
        let place = head.headers[.location].flatMap { try? request.url.resolving($0) }
        throw TransferError.redirect(
          .refused(
            to: place?.withoutQuery ?? "an unreadable address", reason: "a listing follows no redirects; give that URL")
        )
      }
      do throws(TransferError) {
        try check(head)
      } catch {
        stream.cancel()
        throw error
      }
      isFramed = head.isSelfDelimiting
    }
    var page = Page()
    var bytes: Int64 = 0
    for try await data in stream.streamingData() {
      bytes = bytes.saturatingSum(Int64(data.count))
      guard bytes <= Self.maximumBytes else {
        throw TransferError.response(.bodyTooLarge(limit: Int(Self.maximumBytes)))
      }
      // Parts of a piece, so that few entries wait in memory.
      var rest = data[...]
      while !rest.isEmpty {
        try parser.read(rest.prefix(16 << 10)) { page.add(rule.verdict(on: $0)) }
        rest = rest.dropFirst(16 << 10)
        try await page.handOver(take)
      }
    }
    try parser.finish { page.add(rule.verdict(on: $0)) }
    guard isFramed || !parser.isCutOff else { throw TransferError.response(.truncated(received: bytes, expected: nil)) }
    return page
  }
}

extension DirectoryLister.Page {
  fileprivate mutating func add(_ verdict: EntryRule.Verdict) {
    switch verdict {
    case .entry(let entry): entries.append(entry)
    case .refused: refused = refused.saturatingSum(1)
    case .none: break
    }
  }

  fileprivate mutating func handOver(_ take: (@Sendable ([DirectoryEntry]) async throws -> Void)?) async throws {
    guard let take else {
      guard entries.count <= DirectoryLister.largestPage else {
        throw TransferError.response(
          .malformed("a page of the bucket has more than \(DirectoryLister.largestPage) keys"))
      }
      return
    }
    guard entries.count >= DirectoryLister.chunk else { return }
    let full = entries
    entries.removeAll(keepingCapacity: true)
    try await take(full)
  }
}

extension HTTPField.Name {
  fileprivate static let depth = Self("Depth")!
}

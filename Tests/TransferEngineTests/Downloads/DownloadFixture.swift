import Foundation
import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// A directory and a session for one test's downloads of `file.bin`.
final class DownloadFixture: Sendable {
  let directory: TemporaryDirectory
  let session: Session
  /// Servers and other objects that must exist as long as the fixture.
  private let kept: [any Sendable]

  init(_ session: Session = Session(), keeping kept: [any Sendable] = []) throws {
    directory = try TemporaryDirectory()
    self.session = session
    self.kept = kept
  }

  static let name = "file.bin"
  var path: String { directory.path(Self.name) }

  func download(
    _ request: TransferRequest, session: Session? = nil, to path: String? = nil, options: DownloadOptions = [],
    resumingWith data: Data? = nil, expecting digests: [ExpectedDigest] = [], partialName: String? = nil,
    journal: (any DownloadJournal)? = nil, segmentation: Segmentation = Segmentation(),
    interceptor: (any RequestInterceptor)? = nil
  ) throws -> DownloadRequest {
    (session ?? self.session).download(
      request, to: try DownloadDestination(path: path ?? self.path), options: options, resumingWith: data,
      expecting: digests, partialName: partialName, journal: journal, segmentation: segmentation,
      interceptor: interceptor)
  }

  func download(
    _ server: LoopbackServer, _ target: String = "/file.bin", options: DownloadOptions = [],
    resumingWith data: Data? = nil, expecting digests: [ExpectedDigest] = [],
    interceptor: (any RequestInterceptor)? = nil
  ) throws -> DownloadRequest {
    try download(
      .of(server, target), options: options, resumingWith: data, expecting: digests, interceptor: interceptor)
  }

  func names() throws -> [String] { try directory.names() }

  /// The size of the only part file; `nil` if there is none or more than one.
  var partSize: Int64? {
    guard let names = try? directory.names().filter({ $0.hasSuffix(".part") }), names.count == 1 else { return nil }
    return FileFacts(directory.path(names[0]))?.size
  }

  /// Expects the complete file under its name, and no other file.
  func expectOnly(_ payload: Payload, _ location: SourceLocation = #_sourceLocation) throws {
    #expect(try names() == [Self.name], sourceLocation: location)
    #expect(try sha256(ofFile: path) == payload.sha256, sourceLocation: location)
  }

  /// Expects the first `count` bytes of the payload in the part file.
  func expectPart(_ data: ResumeData?, holds count: Int64, of payload: Payload) throws {
    let data = try #require(data)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.path(data.partialFile.name)))
    #expect(Int64(bytes.count) == count)
    #expect(bytes == payload.bytes(0..<count))
  }
}

extension TransferRequest {
  static func of(
    _ server: LoopbackServer, _ target: String = "/file.bin", headers: HTTPFields = [:],
    stallTimeout: Duration = .seconds(60)
  ) throws -> TransferRequest {
    TransferRequest(url: try RequestURL(server.url(target)), headers: headers, stallTimeout: stallTimeout)
  }
}

extension DownloadResponse {
  var isSuccess: Bool { error == nil }
}

/// The facts that `lstat` returns for a path; `nil` if the path does not exist.
struct FileFacts {
  let size: Int64
  let mode: mode_t
  let isLink: Bool
  let inode: UInt64

  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    size = Int64(status.st_size)
    mode = status.st_mode & 0o7777
    isLink = status.st_mode & S_IFMT == S_IFLNK
    inode = UInt64(status.st_ino)
  }
}

/// Retries without a delay, at most `limit` times.
extension RequestInterceptor where Self == RetryPolicy {
  static func atOnce(_ limit: Int) -> RetryPolicy { RetryPolicy(retryLimit: limit, exponentialBackoffScale: 0) }
}

/// Stores all events.
final class EventRecorder: EventMonitor {
  let events = Watched<[RequestEvent]>([])
  let all = Watched<[(RequestID, RequestEvent)]>([])

  func request(_ id: RequestID, did event: RequestEvent) {
    events.mutate { $0.append(event) }
    all.mutate { $0.append((id, event)) }
  }

  var refusals: [String] {
    events.value.compactMap { if case .refuseToResume(let reason) = $0 { reason } else { nil } }
  }
}

extension DownloadRequest {
  /// Starts the download and suspends it on the loop's thread as soon as it has more than `bytes`, so that it cannot
  /// complete before the test continues. Returns after that.
  func resumed(suspendedAfter bytes: Int64) async throws {
    let isSuspended = Gate()
    downloadProgress { [weak self] progress in
      guard progress.completed > bytes else { return }
      self?.suspend()
      isSuspended.open()
    }
    resume()
    try await isSuspended.wait()
  }
}

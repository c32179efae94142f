import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// A group of one gives the same response as a single download, and the server sees the same requests.
@Suite(.timeLimit(.minutes(5))) struct GroupEqualityTests {
  static let payload = Payload(size: 30_000)

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let behaviour: FileBehaviour
    var change: @Sendable (inout GroupDownload) -> Void = { _ in }

    init(
      _ name: String, _ behaviour: FileBehaviour, _ change: @escaping @Sendable (inout GroupDownload) -> Void = { _ in }
    ) {
      (testDescription, self.behaviour, self.change) = (name, behaviour, change)
    }
  }

  static let file = FileBehaviour.file(payload)
  static let all: [Case] = [
    Case("plain", file),
    Case("empty", .file(size: 0)),
    Case("1 MiB", .file(size: 1 << 20)),
    Case("longer than 1 MiB", .file(size: (1 << 20) + 1)),
    Case("3 MiB", .file(size: 3 << 20)),
    Case("chunked", file.chunked()),
    Case("chunked, not ended", file.chunked(isEnded: false)),
    Case("without Content-Length", file.withoutContentLength()),
    Case("without Content-Length, cut off", file.withoutContentLength(endingAfter: 10_000)),
    Case("two Content-Lengths", file.contentLengths(["30000", "30001"])),
    Case("Content-Length is no number", file.contentLengths(["many"])),
    Case("Content-Length twice, equal", file.contentLengths(["30000", "30000"])),
    Case("Content-Length is too large", file.contentLengths(["30001"]).closingConnections()),
    Case("garbage after the body", file.trailingGarbage(Data("garbage".utf8))),
    Case("cut off in the middle", file.dropping(after: 12_345)),
    Case("cut off in the middle by a reset", file.dropping(after: 12_345, by: .reset)),
    Case("cut off before the body", file.dropping(after: 0)),
    Case("hung up", file.hangingUp()),
    Case("redirected", file.redirecting(to: "/other", on: .path("/0"))),
    Case("redirected for ever", file.redirectingForEver()) { $0.request.url = $0.request.url.at("/hop/1") },
    Case("redirected to a file", file.redirecting(to: "file:///etc/passwd")),
    Case("redirected without a place", file.redirecting(to: nil)),
    Case("401", file.requiring("Authorization", "Basic eDp5")),
    Case("404", file.failing(404)),
    Case("416", file.failing(416)),
    Case("429 with Retry-After", file.failing(429, retryAfter: .seconds(17))),
    Case("503", file.failing(503)),
    Case("503 without an end", file.endlessError()),
    Case("204", file.empty(204)),
    Case("304", file.empty(304)),
    Case("201", file.failing(201)),
    Case("201 that is not accepted", file.failing(201)) { $0.acceptableStatusCodes = [200, 203, 206] },
    Case("203", file.failing(203)) { $0.acceptableStatusCodes = [200, 203, 206] },
    Case("200 that is not accepted", file) { $0.acceptableStatusCodes = [206] },
    Case("an unrequested 206", file.unaskedPart(0..<1000)),
    Case("an unrequested 206, once", file.unaskedPart(0..<1000, on: .first(1))),
    Case("gzip", file.gzipped()),
    Case("gzip, cut short", file.gzipped(.cutShort)),
    Case("an endless head", file.endlessHeaders()),
    Case("a huge header", file.hugeHeader()),
    Case("no head", file.withoutHead()),
    Case("103 first", file.interim(103, times: 2)),
    Case("declared digest", file.digest(.reprDigest)),
    Case("declared digest, MD5", file.digest(.contentMD5)),
    Case("wrong declared digest", file.digest(.amazonSHA256, isRight: false)),
    Case("expected digest", file) { $0.digests = [ExpectedDigest(algorithm: .sha256, hex: payload.sha256)] },
    Case("wrong expected digest", file) {
      $0.digests = [ExpectedDigest(algorithm: .sha256, hex: String(repeating: "0", count: 64))]
    },
    Case("weak validators", file.weakETag()),
    Case("without validators", file.withoutValidators()),
    Case("named by the response", file.contentDisposition("attachment; filename=\"../x.txt\"")) {
      $0.destination.isNamedByResponse = true
    },
    Case("named by the response, without a name", file) { $0.destination.isNamedByResponse = true },
    Case("the directory is missing", file) { $0.destination.directory += "/missing/one" },
    Case("the directory is made", file) {
      $0.destination.directory += "/missing/one"
      $0.options = .createIntermediateDirectories
    },
    Case("replacing nothing", file) { $0.options = .removePreviousFile },
    Case("skipping", file) { Self.existing(&$0, .skip) },
    Case("verified", file.digest(.reprDigest)) { Self.existing(&$0, .verify) },
    Case("verified, and different", file.digest(.reprDigest)) {
      Self.existing(&$0, .verify, Payload(size: 30_000, seed: 2))
    },
    Case("not to be verified", file) { Self.existing(&$0, .verify) },
    Case("renamed", file) { Self.existing(&$0, .rename) },
    Case("unchanged", file) { Self.known(&$0, Validators(etag: "\"\(payload.name)\"")) },
    Case("unchanged, by its date", file.withoutETag()) {
      let time = Date(timeIntervalSince1970: 1_700_000_000)
      Self.known(&$0, Validators(lastModified: httpDate(time), date: httpDate(time.addingTimeInterval(1))))
    },
    Case("changed", file) { Self.known(&$0, Validators(etag: "\"other\"")) },
    Case("changed, and 503", file.failing(503)) { Self.known(&$0, Validators(etag: "\"other\"")) },
    Case("unknown", file) { Self.existing(&$0, .fail, known: []) },
    Case("unknown, replacing", file) { Self.existing(&$0, .replace, known: []) },
    Case("refused by the rules", file) {
      $0.rules = PathRules(directories: [.init($0.destination.directory, reason: "it is closed")])
    },
    Case("allowed by the rules", file) { $0.rules = PathRules(roots: [$0.destination.directory]) },
    Case("a refused name", file) {
      $0.rules = PathRules(files: [.init($0.destination.directory + "/0", reason: "it is closed")])
    },
    Case("POST", file) { $0.request.method = .post },
    Case("a private address where only public ones are allowed", file) { $0.request.requiresPublicAddress = true },
    Case("limited in speed", file) { $0.request.limitRate = 10_000_000 },
    Case("another user's credentials", file) { $0.request.credentials = Credentials(username: "a", password: "b") },
  ]

  /// Puts a file at the destination.
  private static func existing(
    _ download: inout GroupDownload, _ rule: ExistingFileRule, _ content: Payload = payload, known: [FileRecord]? = nil
  ) {
    try? content.write(to: download.destination.directory + "/" + download.destination.name)
    download.destination.existing = rule
    download.destination.knownVersions = known
  }

  /// Puts a file at the destination that was fetched with these validators.
  private static func known(_ download: inout GroupDownload, _ validators: Validators) {
    existing(&download, .fail)
    let stamp = FileStamp(path: download.destination.directory + "/" + download.destination.name)
    download.destination.knownVersions = stamp.map { [FileRecord(validators: validators, stamp: $0)] }
  }

  @Test("a group of one gives the response of a single download", arguments: all)
  func equal(_ test: Case) async throws {
    let (one, other) = try (Side(test), Side(test))
    let single = await one.single()
    let grouped = try #require(await other.grouped())
    #expect(try other.summary(grouped) == one.summary(single))
    if case .success = single.result {
      #expect(try sha256(ofFile: grouped.filePath ?? "") == sha256(ofFile: single.filePath ?? ""))
    }
  }

  /// One side of the comparison: a server, a directory and a download.
  private struct Side {
    let fixture: GroupFixture
    let server: LoopbackServer
    let item: GroupDownload

    init(_ test: Case) throws {
      fixture = try GroupFixture()
      server = try LoopbackServer(test.behaviour)
      item = try fixture.items(server, 0..<1, change: test.change)[0]
    }

    func single() async -> FileResponse {
      let request = fixture.session.download(
        item.request, to: item.destination, options: item.options, rules: item.rules, expecting: item.digests,
        partialName: item.partialName)
      if let codes = item.acceptableStatusCodes { request.validate(statusCode: codes) }
      return await request.response()
    }

    func grouped() async -> FileResponse? { await fixture.session.downloads([item]).responses()[0] }

    /// The facts that must be equal, without the names of this side's directory and server.
    func summary(_ response: FileResponse) throws -> [String] {
      func text(_ value: Any?) -> String {
        String(describing: value ?? "nil").replacing(fixture.directory.path, with: "DIRECTORY")
          .replacing(server.authority, with: "SERVER")
      }
      let head = response.head.map { head in
        var head = head
        head.headers[.date] = nil
        head.headers[.lastModified] = nil
        return head
      }
      let data = response.resumeData
      return [
        "result: \(text(response.result))", "request: \(text(response.request))",
        "fields: \(text(response.request?.headers.map { "\($0)" }))", "head: \(text(head))",
        "file: \(text(response.filePath))",
        "received: \(response.bytesReceived), on disk: \(response.bytesOnDisk), total: \(text(response.totalBytes))",
        "from: \(response.resumedFrom), origin: \(text(response.respondingOrigin))",
        "verification: \(text(response.verification)), transfers: \(response.metrics.count)",
        "resume: \(text(data?.url)) \(text(data?.validators.etag)) \(text(data?.totalBytes))",
        "resume: \(text(data?.partialFile.name)) \(text(data?.partialFile.finalName)) \(text(data?.checkpointBytes))",
        "resume: \(text(data?.isAtRest)) \(text(data?.isVerified)) \(text(data?.options)) \(text(data?.refusals))",
        "names: \(try fixture.names())",
        "outcome: \(response.outcome), known: \(text(response.record?.validators.etag))",
        "asked: \(server.requests.map { "\($0.method) \($0.path) \($0.headers["Range"] ?? "")" })",
      ]
    }
  }
}

extension RequestURL {
  /// The URL of another path on the same server.
  fileprivate func at(_ path: String) -> RequestURL {
    (try? RequestURL("\(scheme)://\(host):\(port)\(path)")) ?? self
  }
}

import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct LocalFileTests {
  static let payload = Payload(size: 5 << 20, seed: 12)

  private func fixture(_ isAllowed: Bool = true) throws -> (DownloadFixture, source: String, TransferRequest) {
    var configuration = SessionConfiguration()
    configuration.allowsFileURLs = isAllowed
    let directory = try TemporaryDirectory()
    let fixture = try DownloadFixture(Session(configuration: configuration), keeping: [directory])
    let source = directory.path("a b.iso")
    try Self.payload.write(to: source)
    return (fixture, source, try .to("file://" + source.replacingOccurrences(of: " ", with: "%20")))
  }

  @Test("a file URL is refused if the session does not allow it")
  func refused() async throws {
    let (fixture, _, request) = try fixture(false)
    let response = try await fixture.download(request).response()
    guard case .unsupportedScheme("file")? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try fixture.names() == [])
    let data = await fixture.session.request(request.url).response()
    #expect(data.error != nil && data.data?.isEmpty != false)
  }

  @Test("an interrupted copy of a local file is resumed if the file is the same", arguments: ["same", "changed"])
  func copy(_ what: String) async throws {
    let (fixture, source, request) = try fixture()
    // At most 1 MiB is read before the first record is durable.
    let journal = StoppingJournal(after: 0)
    let first = try await fixture.download(request, journal: journal).response()
    #expect(first.error != nil)
    let data = try #require(first.resumeData)
    #expect(first.bytesOnDisk > 0)
    #expect(first.bytesOnDisk < Self.payload.size)
    if what == "changed" { try Payload(size: Self.payload.size, seed: 13).write(to: source) }
    let second = try await fixture.download(request, resumingWith: data.encoded()).response()
    #expect(second.error == nil)
    #expect((second.resumedFrom > 0) == (what == "same"))
    #expect(try sha256(ofFile: fixture.path) == sha256(ofFile: source))
    #expect(second.verification == .length)
  }

  @Test("a copy of a local file with a journal makes a record and completes")
  func journal() async throws {
    let (fixture, _, request) = try fixture()
    let journal = StoppingJournal(after: .max)
    #expect(try await fixture.download(request, journal: journal).response().error == nil)
    try fixture.expectOnly(Self.payload)
    #expect(journal.records.value >= 1)
  }

  @Test("missing files, directories and devices are permanent errors")
  func others() async throws {
    let (fixture, source, _) = try fixture()
    for (path, isMissing) in [(source + "x", true), ("/tmp", false), ("/dev/null", false)] {
      let response = try await fixture.download(.to("file://" + path.replacingOccurrences(of: " ", with: "%20")))
        .response()
      guard case .remote(let failure)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      if case .missing = failure { #expect(isMissing) } else { #expect(!isMissing) }
      #expect(!failure.isTransient)
    }
  }
}

/// Fails after `limit` records.
private final class StoppingJournal: DownloadJournal {
  let records = Watched(0)
  private let limit: Int

  init(after limit: Int) { self.limit = limit }

  func record(_ data: ResumeData) async throws {
    if records.mutate({
      $0 += 1; return $0
    }) > limit {
      throw CancellationError()
    }
  }
  func willRename(_ data: ResumeData) async throws {
    if limit < .max { throw CancellationError() }
  }
}

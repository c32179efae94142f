import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct LocalFileTests {
  static let payload = Payload(size: 5 << 20, seed: 12)

  private func room(_ isAllowed: Bool = true) throws -> (DownloadRoom, source: String, TransferRequest) {
    var configuration = SessionConfiguration()
    configuration.allowsFileURLs = isAllowed
    let directory = try TemporaryDirectory()
    let room = try DownloadRoom(Session(configuration: configuration), keeping: [directory])
    let source = directory.path("a b.iso")
    try Self.payload.write(to: source)
    return (room, source, try .to("file://" + source.replacingOccurrences(of: " ", with: "%20")))
  }

  @Test("file: is refused unless the session allows it")
  func refused() async throws {
    let (room, _, request) = try room(false)
    let response = try await room.download(request).response()
    guard case .unsupportedScheme("file")? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try room.names() == [])
    let data = await room.session.request(request.url).response()
    #expect(data.error != nil && data.data?.isEmpty != false)
  }

  @Test("a file is copied, and its copy is resumed", arguments: ["same", "changed"])
  func copy(_ what: String) async throws {
    let (room, source, request) = try room()
    // Nothing is read beyond the first MiB before the first record is kept.
    let journal = StoppingJournal(after: 0)
    let first = try await room.download(request, journal: journal).response()
    #expect(first.error != nil)
    let data = try #require(first.resumeData)
    #expect(first.bytesOnDisk > 0)
    #expect(first.bytesOnDisk < Self.payload.size)
    if what == "changed" { try Payload(size: Self.payload.size, seed: 13).write(to: source) }
    let second = try await room.download(request, resumingWith: data.encoded()).response()
    #expect(second.error == nil)
    #expect((second.resumedFrom > 0) == (what == "same"))
    #expect(try sha256(ofFile: room.path) == sha256(ofFile: source))
    #expect(second.verification == .length)
  }

  @Test("it waits for the record that makes it resumable, without polling")
  func journal() async throws {
    let (room, _, request) = try room()
    let journal = StoppingJournal(after: .max)
    #expect(try await room.download(request, journal: journal).response().error == nil)
    try room.expectOnly(Self.payload)
    #expect(journal.records.value >= 1)
  }

  @Test("missing files, directories and devices are said so")
  func others() async throws {
    let (room, source, _) = try room()
    for (path, isMissing) in [(source + "x", true), ("/tmp", false), ("/dev/null", false)] {
      let response = try await room.download(.to("file://" + path.replacingOccurrences(of: " ", with: "%20")))
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

/// Fails after so many records.
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

import FoundationEssentials
import Testing
import TransferAPI

@testable import Store
@testable import transferd

@Suite struct ExportLinesTests {
  private func records() async throws -> [JobRecord] {
    let folder = FileManager.default.temporaryDirectory.path + "/export-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try Store(directory: folder, now: Date(timeIntervalSince1970: 0)) { _ in }
    var specs: [JobSpec] = []
    for number in 0..<60 {
      var spec = JobSpec(
        owner: 0, url: "http://h/f\(number)", origin: "http://h:80", destination: "/d/\"f\(number)\u{e9}\n")
      switch number % 12 {
      case 1: spec.batch = "b\"\(number)"
      case 2: spec.key = "k\(number)"
      case 3: spec.destination = "/d\(number)/"
      case 4: spec.destination = number == 4 ? "/" : spec.destination
      case 5: spec.credentials = .init(username: "u", password: "p")
      case 6: spec.source += "?token=x"
      case 7: spec.options.headers = ["X": "\u{E000}source\u{E001}", "Authorization": "y"]
      case 8: (spec.paused, spec.priority) = (true, 5)
      case 9:
        spec = JobSpec(owner: 0, uploading: "/s/\(number)", to: "http://h/u\(number)", origin: "http://h:80")
        spec.options.upload.verify = true
      case 10: spec.options.headers = ["X": "\u{E000}source\u{E001}"]
      case 11: spec.source += "#x"
      default: break
      }
      specs.append(spec)
    }
    for result in await store.submit(specs, in: .everything, at: Date(timeIntervalSince1970: 0)) {
      _ = try result.get()
    }
    let records = try await store.jobs(limit: 1000, in: .everything)
    await store.close()
    return records
  }

  @Test("a line that is made from a template is the one that the coder writes")
  func equality() async throws {
    var lines = ExportLines()
    let records = try await records()
    // In turns, so that templates are made and used.
    for record in records + records.reversed() {
      var text = JSONText()
      try lines.write(record, to: &text)
      let job = ExportedJob(request: NewJob(record), state: record.job.state, omitted: record.spec.omittedFromExport)
      let expected = try WireCoding.encoder().encode(job)
      #expect(String(decoding: text.bytes, as: UTF8.self) == String(decoding: expected, as: UTF8.self) + "\n")
    }
  }
}

import NIOCore
import Testing
import TransferAPI

@testable import transferd

@Suite struct BulkIntakeTests {
  private func lines(_ text: String, chunk: Int) -> [BulkIntake.Line] {
    var intake = BulkIntake()
    var all: [BulkIntake.Line] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      intake.take(ByteBuffer(bytes: bytes[start..<min(start + chunk, bytes.count)]))
      while let group = intake.nextGroup(isFinal: false) { all += group }
    }
    while let group = intake.nextGroup(isFinal: true) { all += group }
    return all
  }

  @Test("lines are complete wherever the bytes are split", arguments: [1, 2, 7, 10_000])
  func cuts(_ chunk: Int) throws {
    let lines = lines("{\"source\":\"http://h/é\"}\r\n\n{\"source\":5}\n{\"source\":\"http://h/2\"}", chunk: chunk)
    #expect(lines.map(\.number) == [1, 3, 4])
    #expect(try lines[0].job.get().source == "http://h/é")
    #expect(throws: Problem.self) { try lines[1].job.get() }
    #expect(try lines[2].job.get().source == "http://h/2")
  }

  @Test("an endless line is refused once and uses no memory")
  func endless() {
    let long = String(repeating: "x", count: 3 << 20)
    let lines = lines(long + "\n{\"source\":\"http://h/\"}\n", chunk: 65536)
    #expect(lines.map(\.number) == [1, 2])
    guard case .failure(let problem) = lines[0].job else { return #expect(Bool(false), "accepted") }
    #expect(problem.code == .tooLarge)
    #expect((try? lines[1].job.get()) != nil)
  }

  @Test("a refused line counts with its message, which repeats only the beginning of a long name")
  func refusals() {
    let name = String(repeating: "u", count: 60_000)
    let lines = lines("{\"\(name)\":1}\n{\"source\":5}\n", chunk: 65536)
    #expect(lines.map(\.number) == [1, 2])
    for line in lines {
      guard case .failure(let problem) = line.job else { return #expect(Bool(false), "accepted") }
      #expect(problem.detail.utf8.count <= WireCoding.maximumExplanation)
      #expect(line.weight == 256 + problem.detail.utf8.count)
    }
  }

  @Test("the size of a group is limited")
  func groups() {
    var intake = BulkIntake()
    intake.take(ByteBuffer(string: String(repeating: "{\"source\":\"http://h/\"}\n", count: 2500)))
    #expect(intake.nextGroup(isFinal: false)?.count == 1000)
    #expect(intake.nextGroup(isFinal: false)?.count == 1000)
    #expect(intake.nextGroup(isFinal: false)?.count == 500)
    #expect(intake.nextGroup(isFinal: true) == nil)
  }
}

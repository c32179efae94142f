import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import transferd

@Suite struct CrashVerdictTests {
  @Test(
    "each mark reduces the suspects",
    arguments: [
      // marks, marked, alone, verdict
      (0, false, true, CrashVerdict.resume), (1, true, true, .resume), (1, true, false, .resume),
      (2, true, true, .resume),
      (2, true, false, .resume), (3, true, true, .fail), (3, true, false, .resumeUnchecked), (9, true, true, .fail),
      // A kill is not a crash, whatever happened before.
      (3, false, true, .resume), (9, false, false, .resume),
    ])
  func verdicts(_ marks: Int, _ isMarked: Bool, _ ranAlone: Bool, _ expected: CrashVerdict) {
    #expect(CrashVerdict(marks: marks, isMarked: isMarked, ranAlone: ranAlone) == expected)
  }

  private static let run = "0123456789abcdef"

  @Test("a mark is parsed, and other text gives no mark")
  func marks() {
    let mark = CrashMark("transferd crash \(Self.run) signal 11          \n".utf8)
    #expect(mark?.run == Self.run && mark?.signal == SIGSEGV && mark?.signalName == "SIGSEGV")
    for text in [
      "", "\n", String(repeating: " ", count: 63) + "\n", "transferd crash \(Self.run) signal 0\n",
      "transferd crash \(Self.run) signal -1\n", "transferd crash \(Self.run) signal 111\n",
      "transferd crash \(Self.run) signal \n", "transferd crash \(Self.run.dropLast()) signal 11\n",
      "transferd crash \(Self.run.dropLast())x signal 11\n", "transferd crash \(Self.run)0 signal 11\n",
      "transferd\0crash \(Self.run) signal 11\n",
    ] { #expect(CrashMark(text.utf8) == nil, "\(text)") }
  }

  @Test("the file keeps its size, and the mark until it is cleared")
  func file() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("transferd.crash")
    func contents() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    let first = try CrashMarkFile(directory: directory.path)
    #expect(first.previous == nil)
    #expect(try contents() == String(repeating: " ", count: 63) + "\n")
    try directory.file(
      "transferd.crash", text: "transferd crash \(Self.run) signal 04" + String(repeating: " ", count: 21) + "\n")
    let second = try CrashMarkFile(directory: directory.path)
    #expect(second.previous?.run == Self.run && second.previous?.signalName == "SIGILL")
    #expect(try CrashMarkFile(directory: directory.path).previous == second.previous)
    try second.clear()
    #expect(try contents() == String(repeating: " ", count: 63) + "\n")
    #expect(try CrashMarkFile(directory: directory.path).previous == nil)
    #expect(throws: CrashMarkFile.Failed.self) { try CrashMarkFile(directory: directory.path("none")) }
  }
}

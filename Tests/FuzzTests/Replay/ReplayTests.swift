import Foundation
import Glibc
import Testing

@Suite("corpora of the fuzzer", .timeLimit(.minutes(5))) struct ReplayTests {
  @Test("every input of the corpora has the properties of its case", arguments: Corpus.entries)
  func replay(_ entry: Corpus.Entry) throws {
    let fuzzCase = try #require(FuzzCase.named(entry.fuzzCase))
    try fuzzCase.check(try entry.bytes())
  }

  @Test("every case has a corpus, and every corpus has a case")
  func corpora() {
    #expect(FuzzCase.all.map(\.name).sorted() == Corpus.cases)
    #expect(Set(FuzzCase.all.map(\.name)).count == FuzzCase.all.count)
    for name in Corpus.cases { #expect(Corpus.entries.contains { $0.fuzzCase == name }, "\(name)") }
  }

  /// Quadratic time would be at least 15 s. The thread's CPU time is measured because other tests run in parallel.
  @Test("any 96 KiB take less than 3 s of CPU time", arguments: FuzzCase.all.map(\.name))
  func time(_ name: String) throws {
    let fuzzCase = try #require(FuzzCase.named(name))
    for input in Self.largeInputs(name) {
      let start = Self.threadTime()
      try fuzzCase.check(input)
      let seconds = Self.threadTime() - start
      #expect(seconds < 3, "\(seconds) s for \(String(decoding: input.prefix(60), as: UTF8.self))…")
    }
  }

  /// The largest entry of the corpus, the same with its end repeated, and texts of one repeated character.
  private static func largeInputs(_ name: String) -> [[UInt8]] {
    let size = 96 * 1024
    let entries = Corpus.entries.filter { $0.fuzzCase == name }.compactMap { try? $0.bytes() }
    var inputs = ["a", "é%41", "\" \\;", "[<"].map { text -> [UInt8] in
      Array(String(repeating: text, count: size / text.utf8.count).utf8)
    }
    if let largest = entries.max(by: { $0.count < $1.count }), !largest.isEmpty {
      let tail = largest.suffix(64)
      inputs.append(largest + Array(repeatElement(tail, count: max(0, size - largest.count) / tail.count).joined()))
    }
    return inputs
  }

  private static func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

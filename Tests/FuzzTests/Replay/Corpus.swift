import Foundation
import Testing

/// The inputs in the repository: `Corpora/<case>/<name>`.
enum Corpus {
  struct Entry: Sendable, CustomTestStringConvertible {
    let fuzzCase: String
    let path: String

    var testDescription: String { "\(fuzzCase)/\((path as NSString).lastPathComponent)" }

    func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
  }

  static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpora").path

  static let cases: [String] = names(in: directory)

  static let entries: [Entry] = cases.flatMap { name in
    names(in: "\(directory)/\(name)").map { Entry(fuzzCase: name, path: "\(directory)/\(name)/\($0)") }
  }

  private static func names(in directory: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
  }
}

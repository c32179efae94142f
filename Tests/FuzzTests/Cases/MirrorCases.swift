@testable import TransferAPI
@testable import TransferEngine
@testable import WireValues
@testable import transferctl

extension FuzzCase {
  /// Where else a file can be fetched.
  static let mirrors = [metalink, duplicateLinks]

  /// A Metalink: what is accepted stays below the directory, and within the bounds of a job.
  private static let metalink = FuzzCase("metalink") { bytes in
    let metalink: Metalink
    do throws(WireError) {
      metalink = try Metalink(bytes)
    } catch {
      return try require(!error.description.isEmpty, "an error without words")
    }
    try require((1...Metalink.maximumFiles).contains(metalink.files.count), "\(metalink.files.count) files")
    try require(Set(metalink.files.map(\.name)).count == metalink.files.count, "a name is given twice")
    for file in metalink.files {
      let parts = file.name.split(separator: "/", omittingEmptySubsequences: false)
      try require(
        parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && $0.utf8.count <= 255 }, "the name \(file.name)")
      try require(!file.name.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control character in a name")
      try require((1...65).contains(file.urls.count), "\(file.urls.count) URLs")
      try require(file.pieces == nil || file.size != nil, "pieces without a size")
    }
  }

  /// `Link` fields of a response.
  private static let duplicateLinks = FuzzCase("duplicate-links") { bytes in
    let fields = bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    let urls = DuplicateLinks(fields).urls
    try require(urls.count <= DuplicateLinks.maximumCount, "\(urls.count) links")
    try require(
      urls.allSatisfy { !$0.isEmpty && $0.utf8.count <= DuplicateLinks.maximumURLBytes }, "a URL of a wrong length")
  }
}

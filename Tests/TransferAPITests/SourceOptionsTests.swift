import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct SourceOptionsTests {
  private func fault(_ change: (inout JobOptions.Download) -> Void, scheme: String? = "https") -> String? {
    var options = JobOptions()
    change(&options.download)
    do throws(WireError) {
      try options.check(scheme: scheme)
      return nil
    } catch { return error.description }
  }

  @Test("mirrors are http and https URLs, each once, and not too many")
  func mirrors() {
    #expect(fault { $0.mirrors = ["http://a/1", "https://u:p@b/1?x"] } == nil)
    for (mirrors, reason) in [
      (["ftp://a/1"], "http or https"), (["nonsense"], "scheme"), ([""], "empty"),
      (["http://a/1", "http://a/1"], "twice"),
      (["http://a b/"], "space"), (["http://a/" + String(repeating: "x", count: 4096)], "longer than 4096"),
      ((0...64).map { "http://a/\($0)" }, "more than 64"),
    ] {
      let fault = fault { $0.mirrors = mirrors }
      #expect(fault?.contains(reason) ?? false, "\(mirrors.first ?? ""): \(fault ?? "accepted")")
    }
    #expect(fault { $0.mirrors = (1...64).map { "http://a/\($0)" } } == nil)
    #expect(fault { ($0.mirrors, $0.ifChanged) = (["http://a/1"], true) }?.contains("ifChanged") ?? false)
    #expect(fault({ $0.mirrors = ["http://a/1"] }, scheme: "ftp")?.contains("not for ftp") ?? false)
    let hidden = fault { $0.mirrors = ["ftp://me:s3cret@a/1"] }
    #expect(hidden?.contains("s3cret") == false)
  }

  @Test("pieces must be whole digests that cover exactly the size")
  func pieces() {
    func pieces(_ bytes: Int, length: Int64 = 1024, algorithm: String = "md5") -> FilePieces {
      var pieces = FilePieces(algorithm: .md5, length: length, digests: Data(repeating: 0, count: bytes))
      pieces.algorithm = algorithm
      return pieces
    }
    #expect(fault { ($0.size, $0.pieces) = (1025, pieces(32)) } == nil)
    for (size, pieces, reason) in [
      (nil, pieces(32), "pieces needs size"), (1024, pieces(32), "do not match"), (2049, pieces(32), "do not match"),
      (1025, pieces(33), "whole digests"), (1025, pieces(0), "whole digests"), (1025, pieces(32, length: 1), "length"),
      (1025, pieces(32, length: .max), "length"), (1025, pieces(32, algorithm: "x"), "unknown algorithm"),
      (1025, pieces(FilePieces.maximumBytes + 16), "at most"),
    ] as [(Int64?, FilePieces, String)] {
      let fault = fault { ($0.size, $0.pieces) = (size, pieces) }
      #expect(fault?.contains(reason) ?? false, "\(fault ?? "accepted")")
    }
    #expect(fault { $0.size = -1 } != nil && fault { ($0.size, $0.maxSize) = (5, 4) } != nil)
    #expect(fault({ $0.size = 1 }, scheme: "sftp") != nil)
  }
}

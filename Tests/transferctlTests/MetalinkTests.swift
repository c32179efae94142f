import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

@Suite struct MetalinkTests {
  private static let sha256 = String(repeating: "ab", count: 32)

  private func document(_ files: String, namespace: String = Metalink.namespace) -> [UInt8] {
    Array("<?xml version=\"1.0\"?><metalink xmlns=\"\(namespace)\">\(files)</metalink>".utf8)
  }

  private func fault(_ bytes: [UInt8]) -> String? {
    do throws(WireError) {
      _ = try Metalink(bytes)
      return nil
    } catch { return error.description }
  }

  @Test("a file has its URLs by priority, its strongest digest, its size and its pieces")
  func file() throws {
    let metalink = try Metalink(
      document(
        """
        <published>2026-01-01T00:00:00Z</published>
        <file name="dir/a.iso">
          <identity>A</identity><size>2500</size>
          <hash type="md5">\(String(repeating: "cd", count: 16))</hash>
          <hash type="sha-256">\(Self.sha256.uppercased())</hash>
          <hash type="sha-1">\(String(repeating: "ef", count: 20))</hash>
          <hash type="sha-999">nonsense</hash>
          <pieces type="sha-1" length="1024"><hash>\(String(repeating: "01", count: 20))</hash>
            <hash>\(String(repeating: "02", count: 20))</hash><hash>\(String(repeating: "03", count: 20))</hash></pieces>
          <url priority="10" location="de">http://c/1</url><url>http://d/1</url>
          <url priority="1">  https://a/1
          </url><url priority="1">http://b/1</url><url>ftp://x/1</url><url>http://c/1</url>
          <metaurl mediatype="torrent">http://t/1</metaurl>
          <x:url xmlns:x="http://other/">http://z/1</x:url>
        </file>
        """))
    let file = try #require(metalink.files.first)
    #expect(metalink.files.count == 1 && file.name == "dir/a.iso" && file.size == 2500)
    #expect(file.checksum?.description == "sha-256=\(Self.sha256)")
    #expect(file.urls == ["https://a/1", "http://b/1", "http://c/1", "http://d/1"])
    let digests = Data(
      [UInt8](repeating: 1, count: 20) + Array(repeating: 2, count: 20) + Array(repeating: 3, count: 20))
    #expect(file.pieces == FilePieces(algorithm: .sha1, length: 1024, digests: digests))
    var job = NewJob(source: "https://a/1")
    file.fill(&job)
    #expect(job.options.download.mirrors == ["http://b/1", "http://c/1", "http://d/1"])
    #expect(throws: Never.self) { try job.options.check(scheme: "https") }
  }

  @Test(
    "a document that cannot be used is refused with its reason",
    arguments: [
      ("", "cannot be read"), ("not xml", "not valid XML"), ("<a/>", "root is <a>"), ("<metalink/>", "version 3"),
      ("<metalink xmlns=\"http://www.metalinker.org/\" version=\"3.0\"/>", "version 3"),
      ("<metalink xmlns=\"urn:other\"/>", "unknown namespace"),
      ("<!DOCTYPE metalink><metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"/>", "DOCTYPE"),
      ("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"/>", "names no file"),
      ("<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"a\">", "not valid XML"),
    ])
  func documents(_ text: String, _ reason: String) {
    let fault = fault(Array(text.utf8))
    #expect(fault?.contains(reason) ?? false, "\(fault ?? "accepted")")
  }

  @Test(
    "a file that cannot be used is refused with its reason",
    arguments: [
      ("<file><url>http://a/1</url></file>", "without a name"),
      ("<file name=\"a\"/>", "no http or https URL"),
      ("<file name=\"a\"><url>ftp://a/1</url></file>", "no http or https"),
      ("<file name=\"a\"><url>http://a/1</url></file><file name=\"a\"><url>http://a/1</url></file>", "twice"),
      ("<file name=\"a\"><url>http://</url></file>", "URL"),
      ("<file name=\"a\"><url>http://a b/</url></file>", "space"),
      ("<file name=\"a\"><size>-1</size><url>http://a/1</url></file>", "size"),
      ("<file name=\"a\"><size>9223372036854775808</size><url>http://a/1</url></file>", "size"),
      ("<file name=\"a\"><url priority=\"0\">http://a/1</url></file>", "priority"),
      ("<file name=\"a\"><hash type=\"sha-256\">abc</hash><url>http://a/1</url></file>", "hexadecimal"),
      ("<file name=\"a\"><pieces type=\"md5\" length=\"0\"/><url>http://a/1</url></file>", "length of its pieces"),
      ("<file name=\"a\"><pieces type=\"md5\" length=\"99999999999999999999\"/><url>http://a/1</url></file>", "length"),
      ("<file name=\"a\"><pieces type=\"md5\" length=\"1024\"><hash>zz</hash></pieces></file>", "digest of a piece"),
      (
        "<file name=\"a\"><size>4096</size><pieces type=\"md5\" length=\"1024\"><hash>"
          + "00112233445566778899aabbccddeeff</hash></pieces><url>http://a/1</url></file>", "do not match"
      ),
    ])
  func files(_ text: String, _ reason: String) {
    let fault = fault(document(text))
    #expect(fault?.contains(reason) ?? false, "\(fault ?? "accepted")")
  }

  @Test(
    "names that lead elsewhere are refused",
    arguments: [
      "", "/etc/passwd", "../a", "a/../../b", "..", ".", "a/./b", "a//b", "a/", "a&#9;b", "a&#10;b", "a&#127;b",
      "a&#133;b", "a\\b", ".bashrc", "dir/.ssh/x", "&#x2f;etc", ".\u{301}bashrc", "a\\\u{301}b", "a\u{600}/.bashrc",
      "a\u{600}/../b", "a/\u{301}b//c",
    ])
  func names(_ name: String) {
    let fault = fault(document("<file name=\"\(name)\"><url>http://a/1</url></file>"))
    #expect(fault?.contains("refuses the file name") ?? false, "\(fault ?? "accepted")")
  }

  @Test("names may be long, but not longer than a file's")
  func lengths() throws {
    let long = String(repeating: "n", count: 255)
    #expect(try Metalink(document("<file name=\"d/\(long)\"><url>http://a/1</url></file>")).files.count == 1)
    #expect(fault(document("<file name=\"\(long)n\"><url>http://a/1</url></file>"))?.contains("255") ?? false)
  }

  @Test("of many URLs the best are kept, and too many pieces are not, if there is a digest of the whole file")
  func bounds() throws {
    let urls = (1...200).reversed().map { "<url priority=\"\($0)\">http://a/\($0)</url>" }.joined()
    let many = try Metalink(document("<file name=\"a\">\(urls)</file>"))
    #expect(many.files[0].urls.count == 65 && many.files[0].urls[0] == "http://a/1")
    let count = FilePieces.maximumBytes / 16 + 1
    let pieces = String(repeating: "<hash>00112233445566778899aabbccddeeff</hash>", count: count)
    func file(_ hash: String) -> [UInt8] {
      document(
        "<file name=\"a\"><size>\(count * 1024)</size>\(hash)<pieces type=\"md5\" length=\"1024\">\(pieces)</pieces>"
          + "<url>http://a/1</url></file>")
    }
    #expect(try Metalink(file("<hash type=\"sha-256\">\(Self.sha256)</hash>")).files[0].pieces == nil)
    #expect(fault(file(""))?.contains("too many pieces") ?? false)
    #expect(
      fault(document(String(repeating: "<file name=\"a\">", count: 100)))?.contains("cannot be read") ?? false)
  }

  @Test("each file becomes a job below the directory, and -o may choose another name")
  func jobs() throws {
    let metalink = try Metalink(
      document(
        "<file name=\"d/a\"><url>http://a/1</url><url>http://b/1</url></file><file name=\"b\"><url>http://a/2</url></file>"
      ))
    func jobs(_ change: (inout JobDefaults) throws -> Void) throws -> [NewJob] {
      var defaults = JobDefaults(directory: "/down")
      try change(&defaults)
      var lines = JobLines(.json)
      try lines.add(metalink, defaults)
      try lines.requireFaultless()
      return try String(decoding: lines.spool.data, as: UTF8.self).split(separator: "\n").map {
        try WireCoding.decoder().decode(NewJob.self, from: Data($0.utf8))
      }
    }
    let plain = try jobs { $0.job.batch = "b" }
    #expect(plain.map(\.destination) == ["/down/d/a", "/down/b"])
    #expect(plain.map(\.source) == ["http://a/1", "http://a/2"])
    #expect(plain[0].options.download.mirrors == ["http://b/1"] && plain[0].batch == "b" && plain[0].directory == nil)
    #expect(
      try jobs { $0.output = try OutputTemplate(parsing: "{n}.x") }.map(\.destination) == ["/down/1.x", "/down/2.x"])
    #expect(throws: CommandFailure.self) { try jobs { $0.output = try OutputTemplate(parsing: "x") } }
    #expect(throws: CommandFailure.self) { try jobs { $0.job.key = "k" } }
  }
}

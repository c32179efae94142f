import Foundation
import Testing

@testable import TransferEngine

@Suite struct TextCharsetTests {
  private func text(_ bytes: [UInt8], _ type: String?, as encoding: String.Encoding? = nil) throws -> String {
    try StringResponseSerializer(encoding: encoding).serialize(
      request: nil, response: head(type: type), data: Data(bytes), error: nil)
  }

  @Test(
    "text is decoded with the charset of Content-Type, or with the default of the media type",
    arguments: [
      (nil, [0x68, 0xE9], "hé"), ("text/plain", [0xC3, 0xA9], "Ã©"), ("text/plain; charset=utf-8", [0xC3, 0xA9], "é"),
      ("text/plain;charset=\"UTF-8\"", [0xC3, 0xA9], "é"), ("text/plain; CHARSET=Utf8 ; x=y", [0xC3, 0xA9], "é"),
      ("text/plain; x=\"a;charset=us-ascii\"; charset=utf-8", [0xC3, 0xA9], "é"),
      ("text/plain; charset=utf-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
      ("text/plain; charset=iso-8859-1", [0x80, 0xFF], "\u{80}ÿ"), ("text/plain; charset=latin1", [0xFF], "ÿ"),
      ("text/plain; charset=windows-1252", [0x80, 0x9F, 0x81, 0xE9], "€Ÿ\u{81}é"),
      ("text/plain; charset=us-ascii", [0x61], "a"), ("text/plain; charset=utf-16", [0xFF, 0xFE, 0x61, 0], "a"),
      ("text/plain; charset=utf-16", [0xFE, 0xFF, 0, 0x61], "a"), ("text/plain; charset=utf-16", [0, 0x61], "a"),
      ("text/plain; charset=utf-16le", [0x3D, 0xD8, 0x00, 0xDE], "😀"),
      ("text/plain; charset=utf-16be", [0xD8, 0x3D, 0xDE, 0x00], "😀"),
      ("text/plain; charset=utf-32be", [0, 0, 0, 0x61], "a"),
      ("application/json", [0xC3, 0xA9], "é"), ("application/problem+json; a=b", [0xC3, 0xA9], "é"),
      ("text/event-stream", [0xC3, 0xA9], "é"), ("application/json; charset=iso-8859-1", [0xE9], "é"),
    ] as [(String?, [UInt8], String)])
  func charsets(_ type: String?, _ bytes: [UInt8], _ expected: String) throws {
    #expect(try text(bytes, type) == expected)
  }

  @Test(
    "invalid bytes and unknown charsets are errors that name the charset",
    arguments: [
      ("text/plain; charset=utf-8", [0xC3], "utf-8"), ("text/plain; charset=utf-8", [0xED, 0xA0, 0x80], "utf-8"),
      ("text/plain; charset=us-ascii", [0x80], "us-ascii"), ("text/plain; charset=utf-16le", [0x61], "utf-16le"),
      ("text/plain; charset=utf-16be", [0xD8, 0x3D], "utf-16be"),
      ("text/plain; charset=Shift_JIS", [0x61], "Shift_JIS"),
    ] as [(String, [UInt8], String)])
  func broken(_ type: String, _ bytes: [UInt8], _ name: String) {
    #expect { try text(bytes, type) } throws: {
      if case TransferError.serialization(.stringSerializationFailed(let encoding)) = $0 {
        encoding == name
      } else {
        false
      }
    }
  }

  @Test("an explicit encoding overrides the response's charset")
  func asked() throws {
    #expect(try text([0xC3, 0xA9], "text/plain; charset=iso-8859-1", as: .utf8) == "é")
    #expect(throws: TransferError.self) { try text([0xE9], "text/plain; charset=iso-8859-1", as: .utf8) }
  }

  @Test("every byte of windows-1252 is a character of its own")
  func windows1252() {
    let all = TextCharset(.windowsCP1252).decode(Data(0...255))!
    #expect(all.unicodeScalars.count == 256)
    #expect(Set(all.unicodeScalars).count == 256)
  }

  @Test(
    "a media type is parsed into its type and parameters",
    arguments: [
      ("text/html", "text/html", [:]), (" Text/HTML ; a=b", "text/html", ["a": "b"]), ("", "", [:]),
      ("a/b; c=\"d\\\"e;f\"; C=x;;=y", "a/b", ["c": "d\"e;f", "": "y"]), ("a/b; c", "a/b", [:]),
    ] as [(String, String, [String: String])])
  func mediaType(_ text: String, _ essence: String, _ parameters: [String: String]) {
    #expect(MediaType(text).essence == essence)
    #expect(MediaType(text).parameters == parameters)
  }
}

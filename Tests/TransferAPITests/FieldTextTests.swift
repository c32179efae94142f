import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct FieldTextTests {
  private let text: FieldText = "é: \(field: "retryFor") needs \(5) of \(field: "maxSize")"

  @Test("each face puts its own names in the places of fields")
  func named() {
    #expect(text.description == "é: retryFor needs 5 of maxSize")
    #expect(text.named { $0 == "retryFor" ? "--retry-for" : nil } == "é: --retry-for needs 5 of maxSize")
    #expect(text.names("maxSize") && !text.names("needs"))
    #expect(FieldText("a").named { _ in "b" } == "a")
  }

  @Test("an error inside a text keeps its places, and an error about a value names the field once")
  func nested() {
    let error = WireError(text: "\(field: "mode") is odd")
    let outer: FieldText = "the source: \(error)"
    #expect(outer.named { "<\($0)>" } == "the source: <mode> is odd")
    #expect(error.about("mode") == error)
    #expect(WireError("is odd").about("mode").text.named { "<\($0)>" } == "<mode>: is odd")
  }

  @Test("a problem carries its fields, and finds their places again after JSON")
  func problem() throws {
    let problem = Problem(.invalid, text: text)
    let fields: [Problem.Field] = [.init(name: "retryFor", at: 3), .init(name: "maxSize", at: 23)]
    #expect(problem.fields == fields)
    let json = try WireCoding.encoder().encode(problem)
    let read = try WireCoding.decoder().decode(Problem.self, from: json)
    #expect(read == problem && read.text == text)
    let plain = String(decoding: try WireCoding.encoder().encode(Problem(.invalid, "no")), as: UTF8.self)
    #expect(plain == #"{"code":"invalid","detail":"no","status":400}"#)
  }

  @Test(
    "places at which a name does not stand change nothing",
    arguments: [-1, 1, 5, 6, 7, Int.max, .min])
  func wrongPlaces(_ at: Int) {
    var problem = Problem(.invalid, "is mode")
    problem.fields = [.init(name: "mode", at: at), .init(name: "mode", at: 3), .init(name: "is", at: 0)]
    #expect(problem.text.named { "<\($0)>" } == "is <mode>")
  }

  @Test("a text is cut, and a name that is cut is a name no more")
  func prefix() {
    #expect(text.prefix(2).description == "é:")
    #expect(text.prefix(10) == FieldText("é: retryFo"))
    let begin: FieldText = "é: \(field: "retryFor")"
    #expect(text.prefix(11) == begin)
    #expect(text.prefix(100) == text && text.prefix(0).description.isEmpty)
  }

  @Test(
    "a value that cannot be read names its field",
    arguments: [
      (#"{"retryFor":0}"#, "<retryFor>: a duration"), (#"{"maxSize":"x"}"#, "<maxSize>: a size"),
      (#"{"notBefore":"soon"}"#, "<notBefore>: \"soon\""), (#"{"credentials":"x"}"#, "<credentials>: a secret"),
      (#"{"window":"x"}"#, "<window> \"x\""), (#"{"after":["x"]}"#, "<after>: \"x\""),
      (#"{"ifExists":"x"}"#, "<ifExists> \"x\""), (#"{"mode":5}"#, "field \"<mode>\" has"),
      (#"{"headers":{"A":5}}"#, "field \"<headers>.A\" has"),
    ])
  func values(_ json: String, _ words: String) {
    do {
      _ = try WireCoding.decoder().decode(JobOptions.self, from: Data(json.utf8))
      Issue.record("accepted")
    } catch {
      let text = WireCoding.explanation(of: error).named { "<\($0)>" }
      #expect(text.hasPrefix(words), "\(text)")
    }
  }
}

import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// A head with a status and a Content-Type.
func head(_ status: Int = 200, type: String? = nil) -> ResponseHead {
  ResponseHead(status: status, headers: type.map { [.contentType: $0] } ?? [:])
}

func request(_ method: HTTPRequest.Method = .get) throws -> TransferRequest {
  TransferRequest(url: try RequestURL("http://a.test/"), method: method)
}

@Suite struct ResponseSerializerTests {
  @Test(
    "an empty body is allowed for HEAD, 204 and 205 only",
    arguments: [
      (HTTPRequest.Method.get, 200, false), (.get, 204, true), (.get, 205, true), (.head, 200, true),
      (.head, 404, true), (.post, 201, false), (.delete, 204, true), (.get, 304, false),
    ])
  func empty(_ method: HTTPRequest.Method, _ status: Int, _ isAllowed: Bool) throws {
    let request = try request(method)
    for data in [nil, Data()] {
      func expect<S: DataResponseSerializerProtocol>(_ serializer: S, _ value: S.SerializedObject)
      where S.SerializedObject: Equatable {
        let result = Result {
          try serializer.serialize(request: request, response: head(status), data: data, error: nil)
        }
        if isAllowed {
          #expect((try? result.get()) == value)
        } else {
          #expect { try result.get() } throws: {
            if case TransferError.serialization(.inputDataNilOrZeroLength) = $0 { true } else { false }
          }
        }
      }
      expect(DataResponseSerializer(), Data())
      expect(StringResponseSerializer(), "")
      expect(JSONResponseSerializer(), .null)
      expect(PropertyListResponseSerializer(), .dictionary([:]))
      expect(DecodableResponseSerializer<Empty>(), Empty.value)
    }
  }

  @Test("the statuses and methods with an empty body can be configured")
  func ownRules() throws {
    let serializer = StringResponseSerializer(emptyResponseCodes: [200], emptyRequestMethods: [.post])
    #expect(try serializer.serialize(request: nil, response: head(200), data: nil, error: nil) == "")
    #expect(try serializer.serialize(request: request(.post), response: nil, data: nil, error: nil) == "")
    #expect(throws: TransferError.self) {
      try serializer.serialize(request: request(), response: head(204), data: nil, error: nil)
    }
    #expect(serializer.requestAllowsEmptyResponseData(nil) == nil)
    #expect(serializer.responseAllowsEmptyResponseData(nil) == nil)
  }

  @Test("an earlier error is thrown again, and the body is not read")
  func earlierError() throws {
    #expect {
      try DataResponseSerializer().serialize(request: nil, response: nil, data: Data([1]), error: .cancelled)
    } throws: { if case TransferError.cancelled = $0 { true } else { false } }
    #expect(throws: TransferError.self) {
      try URLResponseSerializer().serializeDownload(
        request: nil, response: nil, fileURL: URL(fileURLWithPath: "/x"), error: .cancelled)
    }
  }

  @Test("an empty response needs a type with an empty value")
  func noEmptyValue() throws {
    #expect {
      try DecodableResponseSerializer<[Int]>().serialize(
        request: request(), response: head(204), data: nil, error: nil)
    } throws: { if case TransferError.serialization(.invalidEmptyResponse("Array<Int>")) = $0 { true } else { false } }
  }

  struct Repo: Codable, Sendable, Equatable {
    var name: String
    var stars: [Int]
  }

  @Test("a Decodable is decoded, and an error names the place in the JSON")
  func decodable() throws {
    let serializer = DecodableResponseSerializer<[Repo]>()
    func decode(_ text: String) throws -> [Repo] {
      try serializer.serialize(request: nil, response: nil, data: Data(text.utf8), error: nil)
    }
    #expect(try decode(#"[{"name":"a","stars":[1]}]"#) == [Repo(name: "a", stars: [1])])
    let errors = [
      (#"[{"name":"a"}]"#, #"there is no "stars" at [0]"#), (#"[{"name":"a","stars":[1,"x"]}]"#, "[0].stars[1]"),
      ("[", "cannot decode the response"),
    ]
    for (text, part) in errors { #expect { try decode(text) } throws: { "\($0)".contains(part) } }
  }

  @Test("a Decodable is decoded with a PropertyListDecoder")
  func propertyListDecoder() throws {
    let data = try PropertyListEncoder().encode(Repo(name: "ü", stars: [1, 2]))
    let serializer = DecodableResponseSerializer<Repo>(decoder: PropertyListDecoder())
    #expect(
      try serializer.serialize(request: nil, response: nil, data: data, error: nil) == Repo(name: "ü", stars: [1, 2]))
  }

  @Test("the JSON prefix against XSSI is removed")
  func xssi() throws {
    let serializer = JSONResponseSerializer(dataPreprocessor: .googleXSSI)
    func json(_ text: String) throws -> JSONValue {
      try serializer.serialize(request: nil, response: nil, data: Data(text.utf8), error: nil)
    }
    #expect(try json(")]}',\n{\"a\":1}") == ["a": 1])
    #expect(try json("{\"a\":1}") == ["a": 1])
  }

  struct Broken: DataPreprocessor, Error {
    func preprocess(_ data: Data) throws -> Data { throw Broken() }
  }

  @Test("an error that a preprocessor throws is a serialization error")
  func brokenPreprocessor() throws {
    #expect {
      try DataResponseSerializer(dataPreprocessor: Broken()).serialize(
        request: nil, response: nil, data: Data([1]), error: nil)
    } throws: { if case TransferError.serialization(.customSerializationFailed) = $0 { true } else { false } }
  }

  @Test("a downloaded file is read like a body")
  func download() throws {
    let directory = try TemporaryDirectory()
    let url = URL(fileURLWithPath: try directory.file("a b.json", text: "[1]"))
    func read<S: ResponseSerializer>(_ serializer: S, _ url: URL?) throws -> S.SerializedObject {
      try serializer.serializeDownload(request: nil, response: head(), fileURL: url, error: nil)
    }
    #expect(try read(JSONResponseSerializer(), url) == [1])
    #expect(try read(.string, url) == "[1]")
    #expect(try read(.data, url) == Data("[1]".utf8))
    #expect(try read(.decodable(of: [Int].self), url) == [1])
    #expect(
      try URLResponseSerializer().serializeDownload(request: nil, response: nil, fileURL: url, error: nil) == url)
    #expect { try read(.json, nil) } throws: {
      if case TransferError.serialization(.inputFileNil) = $0 { true } else { false }
    }
    #expect { try read(.json, URL(fileURLWithPath: directory.path("none"))) } throws: {
      if case TransferError.serialization(.inputFileReadFailed) = $0 { true } else { false }
    }
  }

  @Test("pieces of text that end within a character are put together")
  func assembler() {
    let text = "aé€😀z"
    let bytes = Data(text.utf8)
    for cut in 0...bytes.count {
      for second in cut...bytes.count {
        var assembler = UTF8Assembler()
        var whole = assembler.append(bytes[..<cut])
        whole += assembler.append(bytes[cut..<second])
        whole += assembler.append(bytes[second...])
        whole += assembler.finish()
        #expect(whole == text)
      }
    }
    var assembler = UTF8Assembler()
    #expect(assembler.append(Data([0x61, 0xE2, 0x82])) == "a")
    #expect(assembler.append(Data([0x62])) == "\u{FFFD}b")
    #expect(assembler.append(Data([0xE2])) == "")
    #expect(assembler.finish() == "\u{FFFD}")
  }
}

@Suite struct JSONValueTests {
  private func json(_ text: String) throws -> JSONValue {
    try JSONResponseSerializer().serialize(request: nil, response: nil, data: Data(text.utf8), error: nil)
  }

  @Test(
    "JSON values of every type are decoded and encoded",
    arguments: [
      ("null", JSONValue.null), ("true", true), ("false", false), ("0", 0), ("-1", -1), ("1.5", 1.5),
      ("9223372036854775807", 9_223_372_036_854_775_807), ("9223372036854775808", .number(9.223372036854775808e18)),
      ("1e300", 1e300), ("\"é\\u00e9\"", "éé"), ("[]", []), ("{}", [:]), ("[1,[true,null]]", [1, [true, .null]]),
      ("{\"a\":{\"b\":[\"c\"]}}", ["a": ["b": ["c"]]]),
    ] as [(String, JSONValue)])
  func shapes(_ text: String, _ value: JSONValue) throws {
    #expect(try json(text) == value)
    let again = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    #expect(try json(again) == value)
  }

  @Test("invalid JSON is an error", arguments: ["", "{", "nul", "[1,]x", "{\"a\" 1}"])
  func broken(_ text: String) { #expect(throws: TransferError.self) { try json(text) } }

  @Test("members and items are reached by name and number")
  func access() throws {
    let value = try json(#"{"items":[{"id":7,"size":1.5,"on":true,"name":"x"}]}"#)
    let item = value["items"]?[0]
    #expect(item?["id"]?.integerValue == 7)
    #expect(item?["id"]?.doubleValue == 7)
    #expect(item?["size"]?.doubleValue == 1.5)
    #expect(item?["on"]?.boolValue == true)
    #expect(item?["name"]?.stringValue == "x")
    #expect(value["items"]?[1] == nil)
    #expect(value["none"] == nil)
    #expect(value[0] == nil)
  }

  @Test(
    "property list values of every type are decoded", arguments: [PropertyListDecoder.PropertyListFormat.xml, .binary])
  func propertyList(_ format: PropertyListDecoder.PropertyListFormat) throws {
    let value: PropertyListValue = .dictionary([
      "b": .bool(true), "i": .integer(-5), "r": .real(1.5), "s": .string("ü"), "d": .data(Data([0, 255])),
      "t": .date(Date(timeIntervalSince1970: 1_700_000_000)), "a": .array([.integer(1), .dictionary([:])]),
    ])
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    let data = try encoder.encode(value)
    let read = try PropertyListResponseSerializer().serialize(request: nil, response: nil, data: data, error: nil)
    #expect(read == value)
    #expect(read["a"]?[0] == .integer(1))
    #expect(throws: TransferError.self) {
      try PropertyListResponseSerializer().serialize(request: nil, response: nil, data: Data("x<".utf8), error: nil)
    }
  }
}

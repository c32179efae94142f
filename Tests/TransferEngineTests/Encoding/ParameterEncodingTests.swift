import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// A request without parameters.
func plainRequest(
  _ url: String = "https://example.com/", method: HTTPRequest.Method = .get, type: String? = nil
) throws -> TransferRequest {
  TransferRequest(url: try RequestURL(url), method: method, headers: type.map { [.contentType: $0] } ?? [:])
}

extension TransferRequest {
  var query: String? { url.string.firstIndex(of: "?").map { String(url.string[$0...].dropFirst()) } }

  var bodyText: String? { if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { nil } }
}

/// The expected values come from Alamofire's own tests and its documentation.
@Suite struct URLEncodingTests {
  static let queries: [(Parameters?, String?)] = [
    (nil, nil), ([:], nil), (["foo": "bar"], "foo=bar"), (["foo": "bar", "baz": "qux"], "baz=qux&foo=bar"),
    (["foo": 25], "foo=25"), (["foo": 1.1], "foo=1.1"), (["foo": 1.0], "foo=1"), (["foo": Float(2.5)], "foo=2.5"),
    (["foo": true], "foo=1"), (["foo": false], "foo=0"), (["foo": 1], "foo=1"),
    (["foo": UInt64.max], "foo=18446744073709551615"),
    (["foo": Int8(-1)], "foo=-1"), (["foo": ["a", 1, true] as [any Sendable]], "foo%5B%5D=a&foo%5B%5D=1&foo%5B%5D=1"),
    (["foo": ["bar": 1]], "foo%5Bbar%5D=1"), (["foo": ["bar": ["baz": 1]]], "foo%5Bbar%5D%5Bbaz%5D=1"),
    (
      ["foo": ["bar": ["baz": ["a", 1, true] as [any Sendable]]]],
      "foo%5Bbar%5D%5Bbaz%5D%5B%5D=a&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1"
    ),
    (
      ["n": ["z": 1, "a": 2, "m": [3, 4]] as [String: any Sendable]],
      "n%5Ba%5D=2&n%5Bm%5D%5B%5D=3&n%5Bm%5D%5B%5D=4&n%5Bz%5D=1"
    ),
    (["reserved": ":#[]@!$&'()*+,;="], "reserved=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"),
    (["reserved": "?/"], "reserved=?/"), (["numbers": "0123456789"], "numbers=0123456789"),
    (["lowercase": "abcdefghijklmnopqrstuvwxyz"], "lowercase=abcdefghijklmnopqrstuvwxyz"),
    (["uppercase": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"], "uppercase=ABCDEFGHIJKLMNOPQRSTUVWXYZ"), (["u": "-._~"], "u=-._~"),
    (["illegal": " \"#%<>[]\\^`{}|"], "illegal=%20%22%23%25%3C%3E%5B%5D%5C%5E%60%7B%7D%7C"),
    (["foo&bar": "baz&qux", "foobar": "bazqux"], "foo%26bar=baz%26qux&foobar=bazqux"),
    (["?foo?": "?bar?"], "?foo?=?bar?"), (["foo": "/bar/baz/qux"], "foo=/bar/baz/qux"),
    ([" foo ": " bar "], "%20foo%20=%20bar%20"), (["+foo+": "+bar+"], "%2Bfoo%2B=%2Bbar%2B"),
    (["percent": "%25"], "percent=%2525"),
    (
      ["french": "français", "japanese": "日本語", "arabic": "العربية", "emoji": "😃"],
      "arabic=%D8%A7%D9%84%D8%B9%D8%B1%D8%A8%D9%8A%D8%A9&emoji=%F0%9F%98%83&french=fran%C3%A7ais&"
        + "japanese=%E6%97%A5%E6%9C%AC%E8%AA%9E"
    ),
    (["a\r\n": "b\0\u{7F}"], "a%0D%0A=b%00%7F"), (["": ""], "="), (["empty": ""], "empty="),
    (["none": Int?.none], nil), (["some": Int?.some(1), "none": String?.none], "some=1"),
    (["list": [Int]()], nil), (["when": Date(timeIntervalSince1970: 0)], "when=1970-01-01%2000%3A00%3A00%20%2B0000"),
    (["data": Data("data".utf8)], "data=ZGF0YQ%3D%3D"), (["sub": "a-b".dropFirst()], "sub=-b"),
    (["json": JSONValue.object(["k": [1, true]])], "json%5Bk%5D%5B%5D=1&json%5Bk%5D%5B%5D=1"),
    (["id": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!], "id=E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
  ]

  @Test("an NSNumber is encoded as a number or as a boolean, as it was created")
  func numbers() throws {
    let parameters: Parameters = [
      "bools": [NSNumber(value: true), NSNumber(value: false)], "numbers": [NSNumber(value: 0), NSNumber(value: 1)],
      "others": [NSNumber(value: 2.5), NSNumber(value: 0.1 as Float), NSNumber(value: UInt64.max)],
    ]
    let request = try JSONEncoding.default.encode(plainRequest(), with: parameters)
    #expect(
      request.bodyText
        == #"{"bools":[true,false],"numbers":[0,1],"others":[2.5,0.1,18446744073709551615]}"#)
    let literal = try URLEncoding(boolEncoding: .literal).encode(
      plainRequest(), with: ["a": NSNumber(value: 1), "b": NSNumber(value: true), "c": true, "d": 0])
    #expect(literal.query == "a=1&b=true&c=true&d=0")
  }

  @Test("parameters are encoded into the same query as in Alamofire", arguments: queries.indices)
  func query(_ index: Int) throws {
    let (parameters, expected) = Self.queries[index]
    let request = try URLEncoding.default.encode(plainRequest(), with: parameters)
    #expect(request.query == expected)
    #expect(request.headers[.contentType] == nil)
    #expect(request.body == nil)
  }

  @Test(
    "new parameters are appended to an existing query",
    arguments: [
      ("https://example.com/?baz=qux", "baz=qux&foo=%2Bbar%2B"),
      ("https://example.com/m?hd=[1]", "hd=%5B1%5D&foo=%2Bbar%2B"),
      ("https://example.com/m?a=%20&b", "a=%20&b&foo=%2Bbar%2B"), ("https://example.com/m?", "foo=%2Bbar%2B"),
      ("https://example.com/m?a?b/c#frag", "a?b/c&foo=%2Bbar%2B"), ("https://example.com/m", "foo=%2Bbar%2B"),
    ])
  func existing(_ url: String, _ expected: String) throws {
    let request = try URLEncoding.default.encode(plainRequest(url), with: ["foo": "+bar+"])
    #expect(request.query == expected)
    #expect(try URLEncoding.default.encode(plainRequest(url), with: [:]).url == plainRequest(url).url)
  }

  @Test(
    "the method decides between query and body, unless the destination is set",
    arguments: [
      (URLEncoding.default, HTTPRequest.Method.get, true), (.default, .head, true), (.default, .delete, true),
      (.default, .post, false), (.default, .put, false), (.default, .patch, false),
      (.default, HTTPRequest.Method("PROPFIND")!, false), (.queryString, .post, true), (.httpBody, .get, false),
    ])
  func destination(_ encoding: URLEncoding, _ method: HTTPRequest.Method, _ isQuery: Bool) throws {
    let request = try encoding.encode(plainRequest(method: method), with: ["foo": 1, "bar": 2])
    #expect(request.query == (isQuery ? "bar=2&foo=1" : nil))
    #expect(request.bodyText == (isQuery ? nil : "bar=2&foo=1"))
    #expect(request.headers[.contentType] == (isQuery ? nil : "application/x-www-form-urlencoded; charset=utf-8"))
  }

  @Test("an existing Content-Type and the URL's credentials are kept")
  func contentType() throws {
    let request = try URLEncoding.httpBody.encode(plainRequest(method: .post, type: "x/y"), with: ["a": 1])
    #expect(request.headers[.contentType] == "x/y")
    let secret = try URLEncoding.default.encode(plainRequest("https://u:p@example.com/"), with: ["a": 1])
    #expect(secret.credentials == Credentials(username: "u", password: "p"))
    #expect(secret.url.string == "https://example.com/?a=1")
  }

  @Test("the encodings of arrays and Bools can be configured")
  func options() throws {
    let parameters: Parameters = ["a": ["x", true] as [any Sendable]]
    func query(_ arrays: URLEncoding.ArrayEncoding, _ bools: URLEncoding.BoolEncoding) throws -> String? {
      try URLEncoding(arrayEncoding: arrays, boolEncoding: bools).encode(plainRequest(), with: parameters).query
    }
    #expect(try query(.brackets, .literal) == "a%5B%5D=x&a%5B%5D=true")
    #expect(try query(.noBrackets, .numeric) == "a=x&a=1")
    #expect(try query(.indexInBrackets, .numeric) == "a%5B0%5D=x&a%5B1%5D=1")
    #expect(try query(.custom { "\($0).\($1 + 1)" }, .literal) == "a.1=x&a.2=true")
  }

  @Test("a long text of other scripts is encoded")
  func long() throws {
    let query = try URLEncoding.httpBody.encode(
      plainRequest(method: .post), with: ["chinese": String(repeating: "一二三四五六七八九十", count: 2000)]
    ).bodyText
    let ten = "%E4%B8%80%E4%BA%8C%E4%B8%89%E5%9B%9B%E4%BA%94%E5%85%AD%E4%B8%83%E5%85%AB%E4%B9%9D%E5%8D%81"
    #expect(query == "chinese=" + String(repeating: ten, count: 2000))
  }

  @Test("what is encoded can be decoded again", arguments: 0..<50)
  func roundTrip(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var parameters: [String: String] = [:]
    for _ in 0..<Int.random(in: 1...20, using: &random) { parameters[random.text()] = random.text() }
    let query = try #require(URLEncoding.default.encode(plainRequest(), with: parameters).query)
    var decoded: [String: String] = [:]
    for pair in query.split(separator: "&", omittingEmptySubsequences: false) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      decoded[try #require(String(parts[0]).removingPercentEncoding)] = String(parts[1]).removingPercentEncoding
    }
    #expect(decoded == parameters)
    // The encoder sorts the encoded names, and URLEncoding sorts the original names.
    let form: String = try URLEncodedFormEncoder().encode(parameters)
    #expect(query.split(separator: "&").sorted() == form.split(separator: "&").sorted())
  }
}

extension SeededGenerator {
  /// Up to 12 characters, many of them special.
  mutating func text() -> String {
    let awkward = Array("&=+%?/# \"[]<>\\;,'\r\n\t\u{0}\u{7F}aZ09é€😀日").map(String.init)
    return (0..<Int.random(in: 0...12, using: &self)).map { _ in awkward.randomElement(using: &self)! }.joined()
  }
}

@Suite struct JSONEncodingTests {
  static let complex: Parameters = [
    "foo": "bar", "baz": ["a", 1, true] as [any Sendable],
    "qux": ["a": 1, "b": [2, 2], "c": [3, 3, 3]] as [String: any Sendable],
  ]

  @Test("parameters become a JSON body with sorted keys")
  func complex() throws {
    let request = try JSONEncoding.default.encode(plainRequest(), with: Self.complex)
    #expect(request.bodyText == #"{"baz":["a",1,true],"foo":"bar","qux":{"a":1,"b":[2,2],"c":[3,3,3]}}"#)
    #expect(request.headers[.contentType] == "application/json")
    #expect(request.query == nil)
  }

  @Test("nil parameters add no body and no Content-Type")
  func nothing() throws {
    let request = try JSONEncoding.default.encode(plainRequest(), with: nil)
    #expect(request.headers[.contentType] == nil)
    #expect(request.body == nil)
  }

  @Test("numbers, escapes and nil are encoded as JSONSerialization encodes them")
  func values() throws {
    let parameters: Parameters = [
      "d": 1.0, "e": 0.1, "f": Float(1.5), "n": Int?.none, "s": "a/b\"\u{1}é", "t": false, "u": UInt64.max,
    ]
    #expect(
      try JSONEncoding.default.encode(plainRequest(), with: parameters).bodyText
        == #"{"d":1,"e":0.1,"f":1.5,"n":null,"s":"a\/b\"\u0001é","t":false,"u":18446744073709551615}"#)
    #expect(
      try JSONEncoding.prettyPrinted.encode(plainRequest(), with: ["a": 1]).bodyText == "{\n  \"a\" : 1\n}")
  }

  @Test("an array can be the root value, and an existing Content-Type is kept")
  func array() throws {
    let request = try JSONEncoding.default.encode(plainRequest(type: "a/b+json"), withJSONObject: ["foo", "bar"])
    #expect(request.bodyText == #"["foo","bar"]"#)
    #expect(request.headers[.contentType] == "a/b+json")
  }

  @Test("a value that JSON cannot represent is an error that names its type")
  func unfit() throws {
    let values: [(any Sendable, String)] = [
      (Date(), "Date"), (Data(), "Data"), (UUID(), "UUID"), (Double.nan, "nan"), ([["x": Date()]], "Date"),
    ]
    for (value, type) in values {
      #expect { try JSONEncoding.default.encode(plainRequest(), with: ["k": value]) } throws: {
        if case TransferError.parameters(.jsonEncodingFailed) = $0 { "\($0)".contains(type) } else { false }
      }
    }
    #expect(throws: TransferError.self) { try JSONEncoding.default.encode(plainRequest(), withJSONObject: "text") }
  }

  @Test("property lists hold dates and data", arguments: [PropertyListEncoding.xml, .binary])
  func propertyList(_ encoding: PropertyListEncoding) throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    var parameters = Self.complex
    parameters["date"] = date
    parameters["data"] = Data("data".utf8)
    let request = try encoding.encode(plainRequest(), with: parameters)
    #expect(request.headers[.contentType] == "application/x-plist")
    guard case .data(let body) = request.body else {
      Issue.record("no body")
      return
    }
    let read = try PropertyListSerialization.propertyList(from: body, format: nil) as? [String: Any]
    #expect(read?["date"] as? Date == date)
    #expect(read?["data"] as? Data == Data("data".utf8))
    #expect(read?["foo"] as? String == "bar")
    #expect((read?["qux"] as? [String: Any])?["c"] as? [Int] == [3, 3, 3])
    #expect(throws: TransferError.self) { try encoding.encode(plainRequest(), with: ["n": Int?.none]) }
  }
}

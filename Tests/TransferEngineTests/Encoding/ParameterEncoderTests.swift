import Foundation
import Testing

@testable import TransferEngine

/// The expected values come from Alamofire's own tests.
@Suite struct ParameterEncoderTests {
  struct Named: Codable { var property = "property" }

  @Test("JSON parameters can be plain, pretty-printed and sorted")
  func json() throws {
    let request = try JSONParameterEncoder().encode(Named(), into: plainRequest())
    #expect(request.bodyText == #"{"property":"property"}"#)
    #expect(request.headers[.contentType] == "application/json")
    #expect(
      try JSONParameterEncoder.prettyPrinted.encode(Named(), into: plainRequest()).bodyText
        == "{\n  \"property\" : \"property\"\n}")
    #expect(
      try JSONParameterEncoder.sortedKeys.encode(["z": "z", "a": "a", "p": "p"], into: plainRequest()).bodyText
        == #"{"a":"a","p":"p","z":"z"}"#)
    #expect(
      try JSONParameterEncoder().encode(Named(), into: plainRequest(type: "type")).headers[.contentType] == "type")
    #expect(try JSONParameterEncoder().encode(Named?.none, into: plainRequest()).body == nil)
  }

  @Test("the method decides whether form parameters go into the query or the body")
  func form() throws {
    let encoder = URLEncodedFormParameterEncoder()
    let post = try encoder.encode(Named(), into: plainRequest(method: .post))
    #expect(post.bodyText == "property=property")
    #expect(post.headers[.contentType] == "application/x-www-form-urlencoded; charset=utf-8")
    #expect(try encoder.encode(Named(), into: plainRequest(method: .post, type: "t")).headers[.contentType] == "t")
    #expect(try encoder.encode(Named(), into: plainRequest("https://e.test/?a=b")).query == "a=b&property=property")
    let query = URLEncodedFormParameterEncoder(destination: .queryString)
    #expect(try query.encode(Named(), into: plainRequest(method: .post)).query == "property=property")
    #expect(try query.encode([String: String](), into: plainRequest()).query == nil)
    let literal = URLEncodedFormParameterEncoder(encoder: .init(boolEncoding: .literal))
    #expect(try literal.encode(["bool": true], into: plainRequest()).query == "bool=true")
    let none: any ParameterEncoder = .urlEncodedForm()
    #expect(try none.encode(Named?.none, into: plainRequest()).query == nil)
  }

  @Test("parameters are encoded as a property list")
  func propertyList() throws {
    let request = try PropertyListParameterEncoder.default.encode(Named(), into: plainRequest(method: .post))
    #expect(request.headers[.contentType] == "application/x-plist")
    #expect(request.bodyText?.contains("<key>property</key>") == true)
  }

  struct Failure: Error {}

  @Test("form and JSON failures have different errors, and a form failure keeps its cause")
  func failures() throws {
    let form = URLEncodedFormParameterEncoder(encoder: .init(dataEncoding: .custom { _ in throw Failure() }))
    #expect { try form.encode(["d": Data()], into: plainRequest()) } throws: {
      if case TransferError.parameters(.encoderFailed(let error)) = $0 { error is Failure } else { false }
    }
    #expect { try JSONParameterEncoder().encode(["d": Double.nan], into: plainRequest()) } throws: {
      if case TransferError.parameters(.jsonEncodingFailed) = $0 { true } else { false }
    }
  }
}

@Suite struct URLEncodedFormEncoderTests {
  private func form(_ value: any Encodable, _ encoder: URLEncodedFormEncoder = .init()) throws -> String {
    try encoder.encode(value)
  }

  @Test("numbers of every type are encoded as text")
  func numbers() throws {
    #expect(try form(["a": Decimal(string: "1.123456")!]) == "a=1.123456")
    #expect(try form(["a": Decimal(1)]) == "a=1")
    #expect(try form(["a": 1.0]) == "a=1.0")
    #expect(try form(["a": Float(1)]) == "a=1.0")
    let integers: [any Encodable] = [
      ["a": Int8(1)], ["a": Int16(1)], ["a": Int32(1)], ["a": Int64(1)], ["a": 1], ["a": UInt8(1)], ["a": UInt16(1)],
      ["a": UInt32(1)], ["a": UInt64(1)], ["a": UInt(1)], ["a": "1"], ["a": true],
    ]
    for value in integers { #expect(try form(value) == "a=1") }
  }

  @Test("nested values are encoded sorted and unsorted, with each array format")
  func structure() throws {
    let value = EncodableStruct()
    #expect(
      try form(value)
        == "five%5Ba%5D=a&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&one=one&seven%5Ba%5D=a&six%5Ba%5D%5Bb%5D=b&three=1&two=2"
    )
    #expect(
      try form(value, .init(alphabetizeKeyValuePairs: false))
        == "one=one&two=2&three=1&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&five%5Ba%5D=a&six%5Ba%5D%5Bb%5D=b&seven%5Ba%5D=a"
    )
    #expect(
      try form(value, .init(arrayEncoding: .indexInBrackets))
        == "five%5Ba%5D=a&four%5B0%5D=1&four%5B1%5D=2&four%5B2%5D=3&one=one&seven%5Ba%5D=a&six%5Ba%5D%5Bb%5D=b&three=1&two=2"
    )
    #expect(try form(["array": [1, 2]], .init(arrayEncoding: .noBrackets)) == "array=1&array=2")
    #expect(try form(["array": [10, 9]]) == "array%5B%5D=10&array%5B%5D=9")
    #expect(try form(["array": [10, 9]], .init(alphabetizeKeyValuePairs: false)) == "array%5B%5D=10&array%5B%5D=9")
    #expect(try form(["array": [2, 1]]) == "array%5B%5D=1&array%5B%5D=2")
    #expect(try form(["array": [2, 1]], .init(alphabetizeKeyValuePairs: false)) == "array%5B%5D=2&array%5B%5D=1")
    #expect(
      try form(["foo": [["bar": 2], ["qux": 3], ["quy": 4]]], .init(arrayEncoding: .indexInBrackets))
        == "foo%5B0%5D%5Bbar%5D=2&foo%5B1%5D%5Bqux%5D=3&foo%5B2%5D%5Bquy%5D=4")
  }

  @Test("nested containers and superclasses are encoded")
  func containers() throws {
    #expect(
      try form(ManualStruct())
        == "root%5B%5D%5B%5D%5B%5D=1&root%5B%5D%5B%5D%5B%5D=2&root%5B%5D%5B%5D%5B%5D=3&root%5B%5D%5B%5D=1&root%5B%5D%5B%5D=2&root%5B%5D%5B%5D=3&root%5B%5D%5Ba%5D%5Bstring%5D=string"
    )
    #expect(
      try form(ManualStruct(), .init(arrayEncoding: .indexInBrackets))
        == "root%5B0%5D%5B0%5D=1&root%5B0%5D%5B1%5D=2&root%5B0%5D%5B2%5D=3&root%5B1%5D%5Ba%5D%5Bstring%5D=string&root%5B2%5D%5B0%5D%5B0%5D=1&root%5B2%5D%5B0%5D%5B1%5D=2&root%5B2%5D%5B0%5D%5B2%5D=3"
    )
    #expect(try form(Superclass()) == "one=one&three=1&two=2")
    #expect(
      try form(Subclass())
        == "five%5Ba%5D=a&five%5Bb%5D=b&four%5B%5D=1&four%5B%5D=2&four%5B%5D=3&one=one&three=1&two=2")
    #expect(
      try form(ManualSubclass()) == "five%5Ba%5D=a&five%5Bb%5D=b&four%5Bfive%5D=2&four%5Bfour%5D=one")
    #expect(
      try form(["foo": [Superclass()]], .init(arrayEncoding: .indexInBrackets))
        == "foo%5B0%5D%5Bone%5D=one&foo%5B0%5D%5Bthree%5D=1&foo%5B0%5D%5Btwo%5D=2")
    // Unlike in Alamofire, numeric keys are names and not array indices.
    #expect(try form(["a": [5: "x"]]) == "a%5B5%5D=x")
  }

  @Test("a root value without field names is an error")
  func root() throws {
    for value: any Encodable in [[1], "text", 1, Date(), Data([1])] {
      #expect { try form(value) } throws: {
        if case TransferError.parameters(.invalidRootObject) = $0 { true } else { false }
      }
    }
    #expect(try form([String: Int]()) == "")
  }

  @Test("data and dates are encoded in each format")
  func dataAndDates() throws {
    let date = ["date": Date(timeIntervalSinceReferenceDate: 123.456)]
    #expect(try form(["data": Data("data".utf8)]) == "data=ZGF0YQ%3D%3D")
    #expect(try form(["data": Data([1, 2])], .init(dataEncoding: .deferredToData)) == "data%5B%5D=1&data%5B%5D=2")
    #expect(try form(["data": Data([1])], .init(dataEncoding: .custom { "\($0.count)" })) == "data=1")
    #expect(try form(date) == "date=123.456")
    #expect(try form(date, .init(dateEncoding: .secondsSince1970)) == "date=978307323.456")
    #expect(try form(date, .init(dateEncoding: .millisecondsSince1970)) == "date=978307323456.0")
    #expect(try form(date, .init(dateEncoding: .iso8601)) == "date=2001-01-01T00%3A02%3A03Z")
    #expect(
      try form(date, .init(dateEncoding: .custom { "\($0.timeIntervalSinceReferenceDate)" })) == "date=123.456")
  }

  @Test(
    "keys are converted by the key encoding",
    arguments: [
      ("oneTwoThree", "one_two_three", "one-two-three", "OneTwoThree"),
      ("myURLProperty", "my_url_property", "my-url-property", "MyURLProperty"), ("a", "a", "a", "A"), ("", "", "", ""),
      ("URL", "u_rl", "u-rl", "URL"), ("_oneTwo_", "_one_two_", "_one-two_", "_oneTwo_"),
      ("isB", "is_b", "is-b", "IsB"), ("éÀé", "é_àé", "é-àé", "ÉÀé"),
    ])
  func keys(_ key: String, _ snake: String, _ kebab: String, _ capital: String) throws {
    func name(_ encoding: URLEncodedFormEncoder.KeyEncoding) throws -> String? {
      String(try form([key: "v"], .init(keyEncoding: encoding)).dropLast(2)).removingPercentEncoding
    }
    #expect(try name(.useDefaultKeys) == key)
    #expect(try name(.convertToSnakeCase) == snake)
    #expect(try name(.convertToKebabCase) == kebab)
    #expect(try name(.capitalized) == capital)
    #expect(try name(.uppercased) == key.uppercased())
    #expect(try name(.lowercased) == key.lowercased())
    #expect(try name(.custom { _ in "A" }) == "A")
  }

  struct Optionals: Encodable {
    var int: Int?
    var text: String?
    var flag: Bool?
    var list: [Int?] = [1, nil]
    var some: Int? = 2
    var nested: [String: Int]?
  }

  @Test("nil is left out, empty or null")
  func nils() throws {
    #expect(try form(Optionals()) == "list%5B%5D=1&some=2")
    #expect(
      try form(Optionals(), .init(nilEncoding: .dropValue))
        == "flag=&int=&list%5B%5D=&list%5B%5D=1&nested=&some=2&text=")
    #expect(
      try form(Optionals(), .init(nilEncoding: .null))
        == "flag=null&int=null&list%5B%5D=1&list%5B%5D=null&nested=null&some=2&text=null")
    #expect(try form(["a": String?.none], .init(nilEncoding: .init { "x" })) == "a=x")
  }

  @Test("key paths, spaces and reserved characters are encoded as configured")
  func texts() throws {
    let nested = ["parent": ["child": ["grandchild": "value"]]]
    #expect(try form(nested) == "parent%5Bchild%5D%5Bgrandchild%5D=value")
    #expect(try form(nested, .init(keyPathEncoding: .dots)) == "parent.child.grandchild=value")
    #expect(try form(nested, .init(keyPathEncoding: .init { "-\($0)" })) == "parent-child-grandchild=value")
    #expect(try form([" s ": "a b+"], .init(spaceEncoding: .plusReplaced)) == "+s+=a+b%2B")
    #expect(try form([" s ": "a b+"]) == "%20s%20=a%20b%2B")
    var allowed = AllowedCharacters.afURLQueryAllowed
    allowed.remove(charactersIn: "?/")
    #expect(try form(["allowed": "?/"], .init(allowedCharacters: allowed)) == "allowed=%3F%2F")
    #expect(
      try form(["reserved": ":#[]@!$&'()*+,;="]) == "reserved=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D")
    #expect(try form(["percent%": "%25"]) == "percent%25=%2525")
  }

  struct Twice: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(1)
      try container.encode(2)
    }
  }

  @Test("encoding two values into one container is an error")
  func twice() { #expect(throws: EncodingError.self) { try form(["a": Twice()]) } }

  @Test("many fields do not take long")
  func many() throws {
    let fields = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("key\($0)", $0) })
    #expect(try form(fields).count == fields.map { "\($0.key)=\($0.value)&".count }.reduce(0, +) - 1)
  }
}

private struct EncodableStruct: Encodable {
  let one = "one"
  let two = 2
  let three = true
  let four = [1, 2, 3]
  let five = ["a": "a"]
  let six = ["a": ["b": "b"]]
  let seven = Seven()

  struct Seven: Encodable { let a = "a" }
}

private class Superclass: Encodable {
  let one = "one"
  let two = 2
  let three = true
}

private enum Keys: String, CodingKey { case four, five, root, a, b }

private final class Subclass: Superclass {
  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode([1, 2, 3], forKey: .four)
    try container.encode(["a": "a", "b": "b"], forKey: .five)
  }
}

private final class ManualSubclass: Superclass {
  override func encode(to encoder: any Encoder) throws {
    var keyed = encoder.container(keyedBy: Keys.self)
    try keyed.encode([1, 2, 3], forKey: .four)
    try keyed.encode(["a": "a", "b": "b"], forKey: .five)
    var above = keyed.superEncoder().container(keyedBy: Keys.self)
    try above.encode(one, forKey: .four)
    var aboveFour = keyed.superEncoder(forKey: .four).container(keyedBy: Keys.self)
    try aboveFour.encode(two, forKey: .five)
    var list = keyed.nestedUnkeyedContainer(forKey: .four)
    var aboveList = list.superEncoder().container(keyedBy: Keys.self)
    try aboveList.encode(one, forKey: .four)
  }
}

private struct ManualStruct: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .root)
    try nested.encode(["string": "string"], forKey: .a)
    var list = container.nestedUnkeyedContainer(forKey: .root)
    try list.encode([1, 2, 3])
    var keyed = list.nestedContainer(keyedBy: Keys.self)
    try keyed.encode(["string": "string"], forKey: .a)
    var inner = list.nestedUnkeyedContainer()
    try inner.encode([1, 2, 3])
  }
}

import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// Test vectors from AWS's test suite (awslabs/aws-c-auth, aws-signing-test-suite/v4) and from its documentation.
@Suite struct AWSSignatureTests {
  static let suite = AWSCredentials(
    accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
  static let august = Date(timeIntervalSince1970: 1_440_938_160)  // 2015-08-30T12:36:00Z

  struct Vector: CustomTestStringConvertible {
    var name: String
    var method = "GET"
    var path = "/"
    var query = ""
    var fields: [(String, String)] = []
    var body = ""
    var isNormalized = true
    var token: String?
    var signature: String
    var testDescription: String { name }
  }

  static let vectors: [Vector] = [
    Vector(name: "get-vanilla", signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Vector(
      name: "get-vanilla-query-order-key-case", query: "Param2=value2&Param1=value1",
      signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    Vector(
      name: "get-vanilla-empty-query-key", query: "Param1=value1",
      signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
    Vector(
      name: "get-vanilla-query-order-encoded", query: "Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
      signature: "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"),
    Vector(
      name: "get-vanilla-query-unreserved",
      query: "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        + "=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
      signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"),
    Vector(
      name: "get-vanilla-utf8-query", query: "ሴ=bar",
      signature: "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
    Vector(
      name: "get-utf8", path: "/ሴ", signature: "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
    Vector(
      name: "get-space-normalized", path: "/example space/",
      signature: "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
    Vector(
      name: "get-slashes-normalized", path: "//example//",
      signature: "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"),
    Vector(
      name: "get-slashes-unnormalized", path: "//example//", isNormalized: false,
      signature: "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"),
    Vector(
      name: "get-relative-normalized", path: "/example/..",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Vector(
      name: "get-relative-unnormalized", path: "/example/..", isNormalized: false,
      signature: "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282"),
    Vector(
      name: "get-relative-relative-normalized", path: "/example1/example2/../..",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Vector(
      name: "get-slash-dot-slash-normalized", path: "/./",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    Vector(
      name: "get-header-value-trim", fields: [("My-Header1", " value1"), ("My-Header2", " \"a   b   c\"")],
      signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
    Vector(
      name: "get-header-value-order",
      fields: [("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"), ("My-Header1", "value2")],
      signature: "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"),
    Vector(
      name: "get-vanilla-with-session-token",
      token: "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267",
      signature: "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
    Vector(
      name: "post-vanilla", method: "POST",
      signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    Vector(
      name: "post-x-www-form-urlencoded", method: "POST",
      fields: [
        ("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", "13"),
        ("x-amz-content-sha256", "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"),
      ], body: "Param1=value1", signature: "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b"),
    Vector(
      name: "post-x-www-form-urlencoded-parameters", method: "POST",
      fields: [
        ("Content-Type", "application/x-www-form-urlencoded; charset=utf-8"), ("Content-Length", "13"),
        ("x-amz-content-sha256", "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e"),
      ], body: "Param1=value1", signature: "328d1b9eaadca9f5818ef05e8392801e091653bafec24fcab71e7344e7f51422"),
  ]

  @Test("signatures equal those of AWS's test suite", arguments: vectors)
  func testSuite(_ vector: Vector) {
    let time = AWSSignature.timestamp(Self.august)
    var fields = [("Host", "example.amazonaws.com"), ("X-Amz-Date", time)] + vector.fields
    if let token = vector.token { fields.append(("X-Amz-Security-Token", token)) }
    let canonical = AWSCanonicalRequest(
      method: vector.method,
      path: AWSCanonical.path(vector.path, isNormalized: vector.isNormalized, isEncodedTwice: false),
      query: AWSCanonical.query(vector.query), headers: fields,
      payloadHash: AWSSignature.Payload.of(Data(vector.body.utf8)).headerValue)
    let signature = AWSSignature(region: "us-east-1", service: "service")
    #expect(
      signature.signature(of: canonical, secret: Self.suite.secretAccessKey, time: time) == vector.signature,
      "\(canonical.text)")
  }

  @Test("the signing key equals the example in AWS's documentation")
  func signingKey() {
    let key = AWSSignature(region: "us-east-1", service: "iam")
      .signingKey("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", time: "20120215T000000Z")
    #expect(
      key.hexadecimal == "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d")
  }

  // MARK: S3

  static let s3 = AWSCredentials(
    accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
  static let may = Date(timeIntervalSince1970: 1_369_353_600)  // 2013-05-24T00:00:00Z

  private func s3Request(
    _ target: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: String? = nil
  ) throws -> TransferRequest {
    TransferRequest(
      url: try RequestURL("https://examplebucket.s3.amazonaws.com" + target), method: method, headers: headers,
      body: body.map { .data(Data($0.utf8)) })
  }

  static let s3Examples: [(String, String, HTTPRequest.Method, HTTPFields, String?, String, String)] = [
    (
      "GET object", "/test.txt", .get, [.range: "bytes=0-9"], nil, "host;range;x-amz-content-sha256;x-amz-date",
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    ),
    (
      "PUT object", "/test%24file.text", .put,
      [.date: "Fri, 24 May 2013 00:00:00 GMT", HTTPField.Name("x-amz-storage-class")!: "REDUCED_REDUNDANCY"],
      "Welcome to Amazon S3.", "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    ),
    (
      "GET bucket lifecycle", "/?lifecycle", .get, [:], nil, "host;x-amz-content-sha256;x-amz-date",
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    ),
    (
      "list objects", "/?max-keys=2&prefix=J", .get, [:], nil, "host;x-amz-content-sha256;x-amz-date",
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    ),
  ]

  @Test("the adapter signs the examples of S3's documentation correctly", arguments: s3Examples.indices)
  func s3Documentation(_ index: Int) async throws {
    let (_, target, method, headers, body, names, expected) = Self.s3Examples[index]
    let adapter = AWSSigV4Adapter(credentials: Self.s3, region: "us-east-1", now: { Self.may })
    let signed = try await adapter.adapt(
      s3Request(target, method: method, headers: headers, body: body), for: .default)
    #expect(
      signed.headers[.authorization]
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=\(names), Signature=\(expected)")
    #expect(signed.headers[.amzDate] == "20130524T000000Z")
    #expect(signed.headers[.amzContentSHA256] == AWSSignature.Payload.of(Data((body ?? "").utf8)).headerValue)
  }

  @Test("a presigned URL equals the example in S3's documentation")
  func presigned() throws {
    let signed = try AWSSignature(region: "us-east-1")
      .presign(s3Request("/test.txt"), with: Self.s3, expiresIn: .seconds(86_400), at: Self.may)
    #expect(
      signed.url.string
        == "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
        + "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
        + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    let again = try AWSSignature(region: "us-east-1")
      .presign(signed, with: Self.s3, expiresIn: .seconds(86_400), at: Self.may)
    #expect(again.url == signed.url)
  }

  @Test(
    "the expiry of a presigned URL is limited to the range that AWS allows",
    arguments: [(Duration.seconds(0), "1"), (.seconds(9_999_999), "604800"), (.milliseconds(1500), "1")])
  func expiry(_ duration: Duration, _ expected: String) throws {
    let signed = try AWSSignature(region: "r")
      .presign(s3Request("/?a=b"), with: Self.s3, expiresIn: duration, at: Self.may)
    #expect(signed.url.string.contains("?a=b&X-Amz-Algorithm="))
    #expect(signed.url.string.contains("&X-Amz-Expires=\(expected)&"))
  }

  @Test("signing a signed request replaces the old signature")
  func again() throws {
    var credentials = Self.s3
    credentials.sessionToken = "token"
    let signature = AWSSignature(region: "us-east-1")
    let request = try s3Request("/a?b=c")
    let old = signature.sign(request, with: credentials, payload: .unsigned, at: Self.august)
    let new = signature.sign(old, with: Self.s3, payload: .empty, at: Self.may)
    #expect(new.headers == signature.sign(request, with: Self.s3, payload: .empty, at: Self.may).headers)
    #expect(old.headers[.amzSecurityToken] == "token")
    #expect(old.headers[.amzContentSHA256] == "UNSIGNED-PAYLOAD")
  }

  @Test("headers that change on the way are not signed, and Host contains a port that is not the default")
  func fields() throws {
    let request = TransferRequest(
      url: try RequestURL("http://u:p@Example.com:9000/b/k"),
      headers: [.userAgent: "x", .expect: "100-continue", .connection: "close", .accept: "a/b"])
    let signed = AWSSignature(region: "r").sign(request, with: Self.s3, payload: .empty, at: Self.may)
    #expect(
      signed.headers[.authorization]?.contains("SignedHeaders=accept;host;x-amz-content-sha256;x-amz-date,") == true)
    #expect(signed.credentials == nil)
    #expect(request.url.hostField == "example.com:9000")
    #expect(try RequestURL("https://example.com:443/").hostField == "example.com")
    #expect(try RequestURL("http://[::1]/").hostField == "[::1]")
    #expect(try RequestURL("https://example.com:80/").hostField == "example.com:80")
  }

  @Test("a plus in a query is encoded, so that both sides read the same")
  func plus() throws {
    let signed = AWSSignature(region: "r")
      .sign(try s3Request("/k?prefix=a+b"), with: Self.s3, payload: .empty, at: Self.may)
    #expect(signed.url.string.hasSuffix("/k?prefix=a%2Bb"))
  }

  @Test(
    "paths are canonicalized as AWS requires",
    arguments: [
      ("/a%2Fb", false, false, "/a/b"), ("/a%2fb c", false, false, "/a/b%20c"), ("/a+b", false, false, "/a%2Bb"),
      ("/a/../b//c/.", false, false, "/a/../b//c/."), ("/a%20b", true, true, "/a%2520b"),
      ("/a/./b/../c", true, true, "/a/c"),
      ("", true, true, "/"), ("", false, false, "/"), ("/..", true, true, "/"), ("/a/", true, true, "/a/"),
      ("/a/b/..", true, true, "/a/"), ("/%zz%4", false, false, "/%25zz%254"), ("/~-._", false, false, "/~-._"),
    ])
  func paths(_ path: String, _ isNormalized: Bool, _ isTwice: Bool, _ expected: String) {
    #expect(AWSCanonical.path(path, isNormalized: isNormalized, isEncodedTwice: isTwice) == expected)
  }

  @Test("automatic payload signing hashes a file over http, but not over https", arguments: [true, false])
  func files(_ isTLS: Bool) async throws {
    let directory = try TemporaryDirectory()
    let payload = Payload(size: 3_000_000)
    let path = try directory.file("f", payload.data)
    let url = try RequestURL((isTLS ? "https" : "http") + "://s3.test/b/k")
    func hash(_ signing: AWSSigV4Adapter.PayloadSigning, _ body: RequestBody) async throws -> String? {
      try await AWSSigV4Adapter(credentials: Self.s3, region: "r", payloadSigning: signing)
        .signed(TransferRequest(url: url, method: .put, body: body)).headers[.amzContentSHA256]
    }
    let half: RequestBody = .segments([.file(path: path, range: 0..<1000)])
    #expect(try await hash(.always, .file(path: path)) == payload.sha256)
    #expect(try await hash(.automatic, .file(path: path)) == (isTLS ? "UNSIGNED-PAYLOAD" : payload.sha256))
    #expect(try await hash(.always, half) == sha256(of: payload.bytes(0..<1000)))
    #expect(try await hash(.never, .data(Data())) == "UNSIGNED-PAYLOAD")
    #expect(try await hash(.automatic, .data(Data("x".utf8))) == sha256(of: Data("x".utf8)))
  }

  @Test("descriptions of credentials contain neither the secret key nor the session token")
  func redacted() {
    let credentials = AWSCredentials(accessKeyID: "AKID", secretAccessKey: "geheim", sessionToken: "marke")
    var dumped = ""
    dump(credentials, to: &dumped)
    for text in [
      "\(credentials)", String(reflecting: credentials), "\([credentials])", "\(["k": credentials])", dumped,
    ] {
      #expect(text.contains("AKID"))
      #expect(!text.contains("geheim") && !text.contains("marke"))
    }
  }

  @Test("the server receives the fields that were signed")
  func onTheWire() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let adapter = AWSSigV4Adapter(credentials: Self.s3, region: "us-east-1", now: { Self.may })
    let response = await Session().request(
      try RequestURL(server.url("/bucket/a%20b?x-id=1")), method: .put, body: .data(Data("x".utf8)),
      interceptor: adapter
    ).response()
    #expect(response.error == nil)
    let headers = server.requests[0].headers
    #expect(headers["Host"] == server.authority)
    #expect(headers["X-Amz-Date"] == "20130524T000000Z")
    #expect(headers["x-amz-content-sha256"] == sha256(of: Data("x".utf8)))
    #expect(headers["Authorization"]?.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date") == true)
  }
}

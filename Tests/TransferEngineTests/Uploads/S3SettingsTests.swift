import Foundation
import Testing

@testable import TransferEngine

@Suite struct S3SettingsTests {
  private static let files = [
    "/h/.aws/credentials": """
    # keys
    [default]
    aws_access_key_id = D1
    aws_secret_access_key=ds # mine
    [backup]
    aws_access_key_id = B1
    aws_secret_access_key = bs=/+x
    aws_session_token = bt
    """,
    "/h/.aws/config": """
    [default]
    region = eu-west-1
    s3 =
      addressing_style = path
      region = nested
    [profile backup]
    region = eu-central-1
    endpoint_url = http://127.0.0.1:9000
    aws_access_key_id = not-this
    [profile role]
    role_arn = arn:aws:iam::1:role/x
    [profile empty]
    [profile minted]
    credential_process = /bin/echo '{"Version":1, "AccessKeyId":"M1", "SecretAccessKey":"ms", "SessionToken":"mt", "Expiration":"2030-01-01T00:00:00Z"}'
    [sso-session backup]
    region = other
    """,
    "/other": "[default]\naws_access_key_id=O1\naws_secret_access_key=os\n",
  ]

  private func settings(
    _ options: S3Options = S3Options(), _ variables: [String: String] = [:], given: Credentials? = nil
  ) throws(TransferError) -> S3Settings {
    let environment = AWSEnvironment(variables: ["HOME": "/h"].merging(variables) { _, new in new }) { Self.files[$0] }
    return try S3Settings(options, given: given, environment: environment)
  }

  @Test("explicit settings override the environment, and the environment overrides the default profile")
  func order() throws {
    let plain = try settings()
    #expect((plain.credentials.accessKeyID, plain.credentials.secretAccessKey) == ("D1", "ds"))
    #expect(plain.region == "eu-west-1")
    #expect(plain.endpoint == nil)
    let keys = [
      "AWS_ACCESS_KEY_ID": "E1", "AWS_SECRET_ACCESS_KEY": "es", "AWS_SESSION_TOKEN": "et", "AWS_REGION": "us-west-2",
    ]
    let environment = try settings(S3Options(), keys)
    #expect(environment.credentials == AWSCredentials(accessKeyID: "E1", secretAccessKey: "es", sessionToken: "et"))
    #expect(environment.region == "us-west-2")
    let named = try settings(S3Options(profile: "backup"), keys)
    #expect(named.credentials == AWSCredentials(accessKeyID: "B1", secretAccessKey: "bs=/+x", sessionToken: "bt"))
    #expect(named.endpoint == "http://127.0.0.1:9000")
    #expect(try settings(S3Options(), ["AWS_PROFILE": "backup"]).region == "eu-central-1")
    #expect(try settings(S3Options(endpoint: "http://e", region: "r", profile: "backup")).endpoint == "http://e")
    let given = try settings(S3Options(), keys, given: Credentials(username: "G1", password: "gs"))
    #expect(given.credentials.accessKeyID == "G1")
    #expect(try settings(S3Options(), ["AWS_SHARED_CREDENTIALS_FILE": "/other"]).credentials.accessKeyID == "O1")
    #expect(try settings(S3Options(profile: "minted")).credentials.accessKeyID == "M1")
    #expect(try settings(S3Options(profile: "minted")).credentials.expiration != nil)
    let command = ["/bin/echo", "{\"Version\":1,\"AccessKeyId\":\"C1\",\"SecretAccessKey\":\"cs\"}"]
    #expect(try settings(S3Options(profile: "backup", credentialCommand: command)).credentials.accessKeyID == "C1")
  }

  @Test(
    "missing credentials are a permanent error that contains no secret",
    arguments: [
      S3Options(profile: "absent"), S3Options(profile: "role"), S3Options(profile: "empty"),
      S3Options(credentialCommand: []), S3Options(credentialCommand: ["/bin/false"]),
      S3Options(credentialCommand: ["/nonexistent"]),
      S3Options(credentialCommand: ["/bin/echo", "{\"SecretAccessKey\":\"secret\"}"]),
      S3Options(credentialCommand: ["/bin/cat", "/dev/zero"]),
    ])
  func missing(_ options: S3Options) throws {
    do throws(TransferError) {
      _ = try settings(options)
      Issue.record("no error")
    } catch {
      #expect(word(error) == "credentials")
      #expect(!error.isTransient)
      #expect(!"\(error)".contains("secret\""))
    }
  }

  @Test("a credential command that hangs is stopped")
  func hangs() {
    #expect(throws: TransferError.self) {
      try CredentialProcess.run(["/bin/sleep", "60"], timeout: .milliseconds(100))
    }
  }

  @Test("without an environment only the key of the request is used")
  func noEnvironment() throws {
    let key = Credentials(username: "G1", password: "gs")
    let given = try S3Settings(S3Options(), given: key, environment: nil)
    #expect(given.credentials == AWSCredentials(accessKeyID: "G1", secretAccessKey: "gs"))
    #expect(given.region == "us-east-1" && given.endpoint == nil)
    let chosen = try S3Settings(S3Options(endpoint: "http://h:1", region: "eu-west-3"), given: key, environment: nil)
    #expect(chosen.region == "eu-west-3" && chosen.endpoint == "http://h:1")
    for (options, given) in [
      (S3Options(), nil), (S3Options(profile: "backup"), key), (S3Options(profile: "minted"), nil),
      (S3Options(credentialCommand: ["/bin/false"]), key),
    ] as [(S3Options, Credentials?)] {
      #expect(throws: TransferError.self) { try S3Settings(options, given: given, environment: nil) }
    }
  }

  @Test("the URL of an object depends on the region, the endpoint and the addressing")
  func objects() throws {
    let keys = Credentials(username: "a", password: "b")
    func url(_ target: String, _ options: S3Options = S3Options()) throws -> String {
      let settings = try S3Settings(options, given: keys, environment: AWSEnvironment(variables: [:]) { _ in nil })
      return try S3Object(try RequestURL(allowingS3: target), settings, options.addressing).url.string
    }
    #expect(try url("s3://bucket/a/b.txt").contains("https://bucket.s3.us-east-1.amazonaws.com"))
    #expect(try url("s3://bucket/a/b.txt").hasSuffix("/a/b.txt"))
    #expect(try url("s3://my.bucket/k").hasSuffix("/my.bucket/k"))
    #expect(try url("s3://bucket/k", S3Options(region: "cn-north-1")).contains("s3.cn-north-1.amazonaws.com.cn"))
    #expect(try url("s3://bucket/k", S3Options(endpoint: "http://127.0.0.1:9000")) == "http://127.0.0.1:9000/bucket/k")
    #expect(
      try url("s3://bucket/k", S3Options(endpoint: "http://h:1/s3/", addressing: .path)) == "http://h:1/s3/bucket/k")
    #expect(
      try url("s3://bucket/k", S3Options(endpoint: "http://h:1", addressing: .virtualHost)) == "http://bucket.h:1/k")
    #expect(try url("http://h:1/bucket/a+b%20c%C3%A4") == "http://h:1/bucket/a%2Bb%20c%C3%A4")
    for bad in ["s3://bucket", "s3://bucket/", "s3://bucket/a/", "http://h/", "http://h/b/k?x=1"] {
      #expect(throws: TransferError.self) { try url(bad) }
    }
  }

  @Test("the part size is a multiple of 1 MiB and gives at most 10,000 parts")
  func partSizes() {
    #expect(S3Parts.size(for: 16 << 20, wanted: nil) == 8 << 20)
    #expect(S3Parts.size(for: 16 << 20, wanted: 1) == 5 << 20)
    for total in [78 << 30, 79 << 30, 1 << 40, 5 << 40] as [Int64] {
      let size = S3Parts.size(for: total, wanted: nil)
      #expect(size % (1 << 20) == 0)
      #expect((total + size - 1) / size <= 10_000)
    }
  }
}

@Suite struct XMLElementTests {
  @Test("S3's responses are parsed")
  func answers() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!-- x --><ListPartsResult xmlns="http://s3/" xmlns:b="urn:b" a='1'><IsTruncated>true</IsTruncated>
      <Part><PartNumber>1</PartNumber><ETag>&quot;abc&#34;&#x41;</ETag><Size>5</Size></Part><Part/>
      <b:c><![CDATA[<&>]]></b:c></ListPartsResult>
      """
    let root = try #require(XMLElement(Data(text.utf8)))
    #expect(root.name == "ListPartsResult")
    #expect(root.all("Part").count == 2)
    #expect(root["Part"]?["ETag"]?.text == "\"abc\"A")
    #expect(root["c"]?.text == "<&>")
    #expect(root["IsTruncated"]?.text == "true")
    #expect(XMLElement.escaped("<\"&>") == "&lt;&quot;&amp;&gt;")
  }

  @Test(
    "escaped text is read back unchanged, also with combining marks",
    arguments: ["<\u{301}&\u{301}", "a\r\nb", "\"\u{200D}>"])
  func escaping(_ text: String) throws {
    let read = try #require(XMLElement(Data("<a>\(XMLElement.escaped(text))</a>".utf8)))
    #expect(Array(read.text.utf8) == Array(text.utf8))
  }

  @Test(
    "malformed documents are refused",
    arguments: [
      "", " ", "x", "<a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a>&x;</a>", "<a>&#1114112;</a>", "<b:a/>",
      "<a>&lt</a>",
      "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "<a b></a>", "<a b=c></a>", "<a b=\"c></a>", "<a/>x",
      "<a><!-- </a>",
      "<a><![CDATA[x</a>", "<?xml <a/>", "</a>", "<>",
    ])
  func refused(_ text: String) {
    #expect(XMLElement(Data(text.utf8)) == nil)
  }

  @Test("random XML does not crash the parser, and truncated documents are refused")
  func fuzz() {
    let good = Array(
      "<?xml version=\"1.0\"?><a x=\"1\"><b>&lt;t&#65;</b><c/><!-- c --><d:e xmlns:d=\"u\"><![CDATA[x]]></d:e></a>".utf8
    )
    for length in 0..<good.count { #expect(XMLElement(Data(good[..<length])) == nil) }
    #expect(XMLElement(Data(repeating: UInt8(ascii: "<"), count: 100_000)) == nil)
    #expect(XMLElement(Data(String(repeating: "<a>", count: 100_000).utf8)) == nil)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: place)
        default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: place)
        }
      }
      _ = XMLElement(Data(bytes))
    }
  }
}

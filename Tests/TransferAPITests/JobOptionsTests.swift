import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct JobOptionsTests {
  private func decode(_ json: String) throws -> NewJob {
    try WireCoding.decoder().decode(NewJob.self, from: Data(json.utf8))
  }

  private func refusal(_ json: String) -> String? {
    do {
      _ = try decode(json)
      return nil
    } catch { return WireCoding.explain(error) }
  }

  /// Options with a secret in every possible place.
  static var secretive: JobOptions {
    var options = JobOptions()
    options.headers = ["Authorization": "Bearer s3cret", "X-Trace": "1"]
    options.upload.collection = "https://h/in/?token=s3cret&a=1"
    options.s3.endpoint = "https://me:s3cret@s3.test/?sig=s3cret"
    options.download.mirrors = ["https://a/1", "https://me:s3cret@b/1", "https://c/1?token=s3cret"]
    options.network.proxy = "socks5h://me:s3cret@proxy.test:1080"
    options.upload.form = [
      FormField(name: "file", value: .file), FormField(name: "api_token", value: .text("s3cret")),
      FormField(name: "title", value: .text("plain")),
    ]
    return options
  }

  @Test("every option has a form, which says how its value is written in JSON")
  func forms() {
    #expect(Set(JobOptions.forms.keys) == JobOptions.names)
    let expected: [String: OptionForm] = [
      "headers": .fields, "secretHeaders": .fields, "limitRate": .text, "maxAttempts": .number, "connectTimeout": .text,
      "after": .texts, "window": .text, "notBefore": .time, "insecure": .flag, "ipVersion": .number, "resolve": .texts,
      "retryStatus": .numbers, "checksum": .text, "mirrors": .texts, "size": .number, "credentials": .text,
      "maxSize": .text, "replace": .flag,
    ]
    for (name, form) in expected { #expect(JobOptions.forms[name] == form, "\(name)") }
  }

  @Test("redacted options have no secrets in URLs, header fields and form fields")
  func redacted() throws {
    let options = Self.secretive.redacted()
    #expect(options.headers == ["X-Trace": "1"])
    #expect(options.upload.collection == "https://h/in/?token=***&a=1")
    #expect(options.s3.endpoint == "https://s3.test/?sig=***")
    #expect(options.network.proxy == "socks5h://proxy.test:1080")
    #expect(options.download.mirrors == ["https://a/1", "https://b/1", "https://c/1?token=***"])
    #expect(options.upload.form.map(\.description) == ["file=@", "api_token=***", "title=plain"])
    #expect(!String(decoding: try WireCoding.encoder().encode(options), as: UTF8.self).contains("s3cret"))
  }

  @Test("secrets return to the places that they were taken from, after a way through JSON")
  func secrets() throws {
    var (options, secrets) = Self.secretive.withoutSecrets()
    secrets = try WireCoding.decoder().decode(OptionSecrets.self, from: WireCoding.encoder().encode(secrets))
    options.insert(secrets)
    #expect(options == Self.secretive)
    #expect(JobOptions().withoutSecrets().secrets.isEmpty)
  }

  @Test("secrets of schema version 3 are still read")
  func oldSecrets() throws {
    let json =
      #"{"collection":"https://h/?token=a","endpoint":"https://u:p@e/","form":{"1":"b"},"headers":{"Cookie":"c"}}"#
    let secrets = try WireCoding.decoder().decode(OptionSecrets.self, from: Data(json.utf8))
    #expect(secrets.urls == ["collection": "https://h/?token=a", "endpoint": "https://u:p@e/"])
    #expect(secrets.form == [1: "b"] && secrets.headers == ["Cookie": "c"])
  }

  @Test("every option has one name, and the names are those of the API")
  func names() {
    #expect(
      JobOptions.names.sorted() == [
        "after", "ca", "cert", "certKey", "checksum", "collection", "connectTimeout", "cookies", "createDirectories",
        "credentials", "deadline", "endpoint", "exclude", "form", "headers", "httpVersion", "ifAbsent", "ifChanged",
        "ifExists", "include", "insecure", "interface", "ipVersion", "limitRate", "maxAttempts", "maxDepth", "maxSize",
        "method", "mirrors", "mode", "nameFromResponse", "notBefore", "onChange", "onSuccess", "partDir", "pieces",
        "profile", "protocol", "proxy", "proxyCredentials", "recursive", "referer", "region", "remoteTime", "replace",
        "resolve", "retryFor", "retryStatus", "secretHeaders", "segments", "size", "stallTimeout",
        "targetCredentials", "urlFrom", "userAgent", "verify", "window",
      ])
    #expect(JobOptions.uploadNames.isSubset(of: JobOptions.names) && JobOptions.uploadNames.count == 7)
  }

  @Test("options of a template fill what is not given, and headers are merged by name")
  func fill() {
    var template = Self.secretive
    template.limitRate = 5
    template.maxAttempts = 3
    var options = JobOptions()
    options.limitRate = 7
    options.headers = ["x-trace": "2"]
    options.fill(from: template, except: ["limitRate", "headers", "form"])
    #expect(options.limitRate == 7 && options.maxAttempts == 3 && options.upload.form.isEmpty)
    #expect(options.headers == ["x-trace": "2", "Authorization": "Bearer s3cret"])
    #expect(options.s3.endpoint == template.s3.endpoint)
  }

  @Test("show has the options below \"options\", those of uploads below \"upload\", and always the flags")
  func shown() throws {
    var options = JobOptions()
    options.limitRate = 5
    options.maxAttempts = 3
    options.secretHeaders = ["X-Key": try SecretHeader(parsing: "env:KEY")]
    options.upload.method = .post
    let job = Job(
      id: 7, kind: .upload, state: .queued, source: "/a", destination: "https://h/a", maxAttempts: 3,
      createdAt: Date(timeIntervalSince1970: 0))
    var detail = JobDetail(job: job, options: options, attempts: [])
    detail.blockedBy = 6
    detail.secretHeaders = ["Authorization"]
    let json = String(decoding: try WireCoding.encoder().encode(detail), as: UTF8.self)
    #expect(
      json.contains(
        #""options":{"createDirectories":false,"follows":6,"hasCredentials":false,"headerReferences":{"X-Key":"env:KEY"},"#
          + #""headers":{},"ifChanged":false,"insecure":false,"limitRate":5,"nameFromResponse":false,"remoteTime":false,"replace":false,"secretHeaders":["Authorization"],"#
          + #""upload":{"method":"POST"}}"#),
      "\(json)")
    var again = try WireCoding.decoder().decode(JobDetail.self, from: Data(json.utf8))
    // A field of the job.
    #expect(again.options.maxAttempts == nil)
    again.options.maxAttempts = 3
    #expect(again == detail)
  }

  @Test("an upload comes back from JSON as it was")
  func roundTrip() throws {
    var job = NewJob(uploading: "/a", to: "https://h/b")
    job.options.upload.method = .post
    job.options.upload.uploadProtocol = .form
    job.options.upload.form = [
      FormField(name: "file", value: .file), FormField(name: "title", value: .text("a=b @ c")),
    ]
    job.options.onSuccess = .move(to: "/sent")
    job.options.upload.onChange = .fail
    job.options.upload.ifAbsent = true
    job.options.credentials = .netrc
    job.options.secretHeaders = ["Authorization": try SecretHeader(parsing: "Bearer exec:pass 'a b'")]
    job.key = "k"
    let json = String(decoding: try WireCoding.encoder().encode(job), as: UTF8.self)
    #expect(try decode(json) == job)
    #expect(json.contains(#""onSuccess":"move=/sent""#))
    #expect(json.contains(#""form":["file=@","title=a=b @ c"]"#))
  }

  @Test("the defaults are left out, and a download has none of it")
  func defaults() throws {
    let upload = String(
      decoding: try WireCoding.encoder().encode(NewJob(uploading: "/a", to: "http://h/")), as: UTF8.self)
    #expect(upload == #"{"destination":"http://h/","kind":"upload","source":"/a"}"#)
    let download = String(decoding: try WireCoding.encoder().encode(NewJob(source: "http://h/")), as: UTF8.self)
    #expect(download == #"{"kind":"download","source":"http://h/"}"#)
  }

  @Test("a spool takes the place of a source")
  func spool() throws {
    let job = try decode(#"{"kind":"upload","spool":"00","destination":"http://h/"}"#)
    #expect(job.spool == "00" && job.source.isEmpty)
    #expect(try decode(String(decoding: WireCoding.encoder().encode(job), as: UTF8.self)) == job)
  }

  @Test(
    "invalid options are refused with a reason",
    arguments: [
      (#"{"source":"http://h/","onChange":"fail"}"#, "onChange is for uploads"),
      (#"{"source":"http://h/","spool":"00"}"#, "spool is for uploads"),
      (#"{"kind":"upload","destination":"x"}"#, "missing field \"source\""),
      (#"{"kind":"upload","source":"/a","protocol":"xmodem"}"#, "protocol \"xmodem\" is not one of auto, plain"),
      (#"{"kind":"upload","source":"/a","method":"PATCH"}"#, "method \"PATCH\""),
      (#"{"kind":"upload","source":"/a","onSuccess":"shred"}"#, "keep, delete or move=DIR"),
      (#"{"kind":"upload","source":"/a","onSuccess":"move="}"#, "no directory"),
      (#"{"kind":"upload","source":"/a","form":["a"]}"#, "NAME=VALUE"),
      (#"{"kind":"upload","source":"/a","form":["a=@b"]}"#, "another file"),
      (#"{"kind":"upload","source":"/a","credentials":"hunter2"}"#, "netrc, env:NAME"),
      (#"{"kind":"upload","source":"/a","secretHeaders":{"X":"hunter2"}}"#, "netrc, env:NAME"),
      (#"{"kind":"upload","source":"/a","onSucces":"keep"}"#, "unknown field \"onSucces\""),
    ])
  func refused(_ json: String, _ words: String) throws {
    let refusal = try #require(self.refusal(json))
    #expect(refusal.contains(words), "\(refusal)")
    #expect(!refusal.contains("hunter2"))
  }
}

@Suite struct SecretReferenceTests {
  @Test(
    "references are written as they are read",
    arguments: ["netrc", "env:TOKEN", "file:/run/key", "exec:pass show 'a b'"])
  func roundTrip(_ text: String) throws {
    #expect(try SecretReference(parsing: text).description == text)
  }

  @Test(
    "what names no place is refused and not repeated",
    arguments: ["", "hunter2", "env:", "env:A=hunter2", "file:hunter2", "exec:", "exec:'hunter2"])
  func refused(_ text: String) {
    let error = #expect(throws: WireError.self) { try SecretReference(parsing: text) }
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test("a word may stand before the secret in a header")
  func headers() throws {
    #expect(try SecretHeader(parsing: "Bearer env:T").value("s") == "Bearer s")
    #expect(try SecretHeader(parsing: "exec:get token").value("s") == "s")
    #expect(try SecretHeader(parsing: "Token exec:get it").description == "Token exec:get it")
    #expect(throws: WireError.self) { try SecretHeader(parsing: "netrc") }
  }
}

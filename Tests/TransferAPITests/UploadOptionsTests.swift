import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct UploadOptionsTests {
  private func decode(_ json: String) throws -> NewJob {
    try WireCoding.decoder().decode(NewJob.self, from: Data(json.utf8))
  }

  private func refusal(_ json: String) -> String? {
    do {
      _ = try decode(json)
      return nil
    } catch { return WireCoding.explain(error) }
  }

  @Test("what people see of an upload has no secrets in its URLs")
  func redacted() {
    var options = UploadOptions()
    options.collection = "https://h/in/?token=s3cret&a=1"
    options.endpoint = "https://me:s3cret@s3.test/?sig=s3cret"
    #expect(options.redacted.collection == "https://h/in/?token=***&a=1")
    #expect(options.redacted.endpoint == "https://s3.test/?sig=***")
  }

  @Test("an upload comes back from JSON as it was")
  func roundTrip() throws {
    var job = NewJob(uploading: "/a", to: "https://h/b")
    job.upload.method = .post
    job.upload.uploadProtocol = .form
    job.upload.form = [
      FormField(name: "file", value: .file), FormField(name: "title", value: .text("a=b @ c")),
    ]
    job.upload.onSuccess = .move(to: "/sent")
    job.upload.onChange = .fail
    job.upload.ifAbsent = true
    job.credentials = .netrc
    job.secretHeaders = ["Authorization": try SecretHeader(parsing: "Bearer exec:pass 'a b'")]
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
    "what cannot be meant is refused, in words",
    arguments: [
      (#"{"source":"http://h/","onSuccess":"delete"}"#, "onSuccess is for uploads"),
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

  @Test(
    "words are parted as a shell does, and nothing is expanded",
    arguments: [
      ("a b  c", ["a", "b", "c"]), ("'a b' \"c d\"", ["a b", "c d"]), ("a\\ b", ["a b"]), ("a'b'\"c\"", ["abc"]),
      ("''", [""]), ("$HOME *", ["$HOME", "*"]), ("\"a\\\"b\"", ["a\"b"]), ("'a\\b'", ["a\\b"]), ("", []),
    ])
  func words(_ text: String, _ expected: [String]) throws {
    #expect(try ShellWords.split(text) == expected)
  }
}

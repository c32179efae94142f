import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct S3UploadTests {
  static let size: Int64 = 21 << 20
  static let keys = Credentials(username: "AKID", password: "secret")

  private func upload(_ fixture: UploadFixture, _ s3: ScriptedS3, onlyIfAbsent: Bool = false, headers: HTTPFields = [:])
    throws
    -> FileUpload
  {
    try fixture.upload(
      to: "s3://bucket/key", by: .s3(S3Options(endpoint: s3.server.url(""), partSize: 5 << 20)), headers: headers,
      credentials: Self.keys, onlyIfAbsent: onlyIfAbsent)
  }

  @Test("signed parts are sent in parallel and combined into one object")
  func parts() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3()
    let journal = UploadRecorder()
    let acl = HTTPField.Name("x-amz-acl")!
    let response = await fixture.send(
      try upload(fixture, s3, headers: [acl: "private", .contentType: "text/x"]), journal: journal)
    #expect(word(response.error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(
      s3.operations.sorted { $0.rawValue < $1.rawValue }
        == [.complete, .create, .head] + Array(repeating: .part, count: 5))
    #expect(s3.server.counters.maxOpenRequests <= 4)
    for request in s3.server.requests {
      #expect(request.headers["Authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/") == true)
      #expect((request.headers["x-amz-acl"] != nil) == (request.query == "uploads"))
    }
    #expect(s3.server.requests[0].headers["Content-Type"] == "text/x")
    #expect(s3.server.requests[0].headers["x-amz-checksum-algorithm"] == "SHA256")
    // The upload ID is recorded before the first part, and the expected object before the parts are combined.
    #expect(journal.steps.count == 2)
    #expect(response.bytesAcknowledged == Self.size)
  }

  @Test("an object that is not as long as the file is a permanent error")
  func shortened() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, _ in
      guard operation == .head else { return nil }
      return [.status(200, headers: ["Content-Length": "\(Self.size - 1)", "ETag": "\"x\""]), .keepAlive]
    }
    let response = await fixture.send(try upload(fixture, s3), interceptor: .atOnce(3))
    guard case .upload(.lengthDiffers(Self.size, Self.size - 1))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.ledger == nil)
    #expect(s3.count(.complete) == 1)
    #expect(s3.count(.head) == 1)
  }

  @Test("a store that shows the object of before for a while is asked again", arguments: [nil, "old"])
  func delayed(_ etag: String?) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, number in
      guard operation == .head, number == 0 else { return nil }
      var headers: HeaderList = ["Content-Length": "5"]
      headers["ETag"] = etag
      return [.status(200, headers: headers), .keepAlive]
    }
    let response = await fixture.send(try upload(fixture, s3))
    #expect(word(response.error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(s3.count(.complete) == 1)
    #expect(s3.count(.head) == 2)
  }

  @Test("a small file is one request")
  func small() async throws {
    let fixture = try UploadFixture(size: 1 << 20)
    let s3 = try ScriptedS3()
    let journal = UploadRecorder()
    #expect(word(await fixture.send(try upload(fixture, s3), journal: journal).error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(s3.operations == [.put])
    #expect(journal.records.value.isEmpty)
  }

  @Test(
    "after an interruption only missing parts are sent, also if the list of parts has several pages",
    arguments: [1, 2, 1000])
  func resume(page: Int) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3(page: page) { operation, _, number in
      operation == .part && number == 3 ? [.stall] : nil
    }
    let journal = UploadRecorder()
    var upload = try upload(fixture, s3)
    upload.protocol = .s3(S3Options(endpoint: s3.server.url(""), partSize: 5 << 20, parallelParts: 1))
    let request = fixture.session.upload(upload, journal: journal).resume()
    try await s3.server.waitForRequests(5)
    request.cancel()
    #expect(word(await request.response().error) == "cancelled")
    let second = await Session().upload(upload, resumingWith: journal.last?.encoded(), journal: journal).response()
    #expect(word(second.error) == "success")
    #expect(second.resumedFrom == 15 << 20)
    #expect(s3.object == fixture.payload.data)
    #expect(s3.count(.part) == 4 + 2)
    #expect(s3.count(.list) == (page == 1 ? 3 : page == 2 ? 2 : 1))
    #expect(s3.count(.create) == 1)
  }

  @Test("a part that a busy server rejects is sent again", arguments: ["SlowDown", "InternalError", "RequestTimeout"])
  func busy(_ code: String) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, number in
      operation == .part && number == 1
        ? ScriptedS3.error(code == "SlowDown" ? 503 : code == "RequestTimeout" ? 400 : 500, code) : nil
    }
    #expect(word(await fixture.send(try upload(fixture, s3)).error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(s3.count(.part) == 6)
    #expect(s3.count(.create) == 1)
  }

  @Test("onlyIfAbsent: a conflict with another request for the object is tried again")
  func conflict() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, number in
      operation == .complete && number == 0 ? ScriptedS3.error(409, "ConditionalRequestConflict") : nil
    }
    let response = await fixture.send(try upload(fixture, s3, onlyIfAbsent: true), interceptor: .atOnce(2))
    #expect(word(response.error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(s3.count(.complete) == 2 && s3.count(.part) == 5)
  }

  @Test("a 200 response with an error in its body fails the upload of a small object")
  func refusalInSuccess() async throws {
    let fixture = try UploadFixture(size: 1000)
    let s3 = try ScriptedS3 { _, _, number in number == 0 ? ScriptedS3.error(200, "InternalError") : nil }
    let first = await fixture.send(try upload(fixture, s3))
    #expect(word(first.error) == "refused InternalError" && first.error?.isTransient == true)
    #expect(s3.object == nil)
    #expect(word(await fixture.send(try upload(fixture, s3)).error) == "success")
    #expect(s3.object == fixture.payload.data)
  }

  @Test(
    "a multipart upload fails if its last 200 response contains an error or is incomplete", arguments: [true, false])
  func errorInSuccess(isError: Bool) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, number in
      guard operation == .complete, number == 0 else { return nil }
      return isError
        ? ScriptedS3.error(200, "InternalError")
        : .response(200, text: "<?xml version=\"1.0\"?>\n<CompleteMultipartUploadResult><ETag>")
    }
    let first = await fixture.send(try upload(fixture, s3))
    #expect(word(first.error) == (isError ? "refused InternalError" : "broken"))
    #expect(first.error?.isTransient == true)
    #expect(s3.object == nil)
    let second = await fixture.send(try upload(fixture, s3), resumingWith: first.ledger)
    #expect(word(second.error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(s3.count(.part) == 5)
  }

  @Test("after a lost response to the last request the object is recognised and nothing is sent again")
  func lostCompletion() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3()
    let journal = UploadRecorder()
    _ = await fixture.send(try upload(fixture, s3, onlyIfAbsent: true), journal: journal)
    let again = await fixture.send(try upload(fixture, s3, onlyIfAbsent: true), resumingWith: journal.last)
    #expect(word(again.error) == "success")
    #expect(again.bytesSent == 0)
    #expect(s3.count(.part) == 5)
  }

  @Test("a list of parts that never ends is read as far as the file has parts, whatever the list's name is")
  func endlessList() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, number in
      switch (operation, number) {
      case (.complete, 0): return [.reset]
      case (.list, _):
        return .response(
          200,
          text: "<ListPartsResponse><IsTruncated>true</IsTruncated>"
            + "<NextPartNumberMarker>\(number + 1)</NextPartNumberMarker></ListPartsResponse>")
      default: return nil
      }
    }
    let first = await fixture.send(try upload(fixture, s3))
    #expect(first.error?.isTransient == true)
    let second = await fixture.send(try upload(fixture, s3), resumingWith: first.ledger)
    #expect(word(second.error) == "success")
    #expect(s3.object == fixture.payload.data)
    // The file has five parts.
    #expect(s3.count(.list) == 5)
    #expect(s3.count(.create) == 1)
  }

  @Test("an upload that S3 no longer knows is started again")
  func gone() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, number in operation == .complete && number == 0 ? [.reset] : nil }
    let first = await fixture.send(try upload(fixture, s3))
    #expect(first.error?.isTransient == true)
    s3.forget()
    let second = await fixture.send(try upload(fixture, s3), resumingWith: first.ledger)
    #expect(word(second.error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(s3.count(.create) == 2)
  }

  @Test("a request to a bucket in another region is sent again with that region", arguments: [true, false])
  func region(byHeader: Bool) async throws {
    let fixture = try UploadFixture(size: 1000)
    let s3 = try ScriptedS3 { _, request, _ in
      guard request.headers["Authorization"]?.contains("/eu-north-1/") == false else { return nil }
      return byHeader
        ? ScriptedS3.error(301, "PermanentRedirect", headers: ["x-amz-bucket-region": "eu-north-1"])
        : ScriptedS3.error(400, "AuthorizationHeaderMalformed", "<Region>eu-north-1</Region>")
    }
    #expect(word(await fixture.send(try upload(fixture, s3)).error) == "success")
    #expect(s3.object == fixture.payload.data)
    #expect(s3.count(.put) == 2)
  }

  @Test(
    "a refusal by S3 is a permanent error with S3's error code",
    arguments: [(403, "AccessDenied"), (404, "NoSuchBucket"), (412, "PreconditionFailed"), (400, "EntityTooLarge")])
  func refused(status: Int, code: String) async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { _, _, _ in ScriptedS3.error(status, code) }
    let response = await fixture.send(try upload(fixture, s3), interceptor: .atOnce(3))
    #expect(word(response.error) == "refused \(code)")
    #expect(response.error?.status == status)
    #expect(response.error?.isTransient == false)
    #expect(s3.server.requests.count == 1)
  }

  @Test("abandon deletes the upload, and a second abandon is no error")
  func abandon() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let s3 = try ScriptedS3 { operation, _, _ in operation == .complete ? [.reset] : nil }
    let upload = try upload(fixture, s3)
    let ledger = try #require(await fixture.send(upload).ledger)
    #expect(s3.uploads.count == 1)
    for _ in 0..<2 { try await fixture.session.abandon(upload, ledger: ledger.encoded()) }
    #expect(s3.uploads.isEmpty)
  }

  @Test("a source that changes during the upload is sent again completely")
  func changed() async throws {
    let fixture = try UploadFixture(size: Self.size)
    let new = Payload(size: Self.size, seed: 9)
    let s3 = try ScriptedS3 { operation, _, number in
      if operation == .part, number == 4 { try? fixture.change(to: new) }
      return nil
    }
    let response = await fixture.send(try upload(fixture, s3))
    #expect(word(response.error) == "success")
    #expect(s3.object == new.data)
    #expect(s3.uploads.isEmpty)
  }
}

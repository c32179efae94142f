import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct DownloadVerbTests {
  static let payload = Payload(size: 400_000)
  private static let file = FileBehaviour.file(payload)

  private static func place(_ path: String, _ options: DownloadOptions = []) -> DownloadRequest.Destination {
    { _, _ in (URL(fileURLWithPath: path), options) }
  }

  @Test("the destination closure gets a safe file name and the response head")
  func chosen() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer(
      Self.file.answering { answer, _ in
        answer.headers["Content-Disposition"] = "attachment; filename=\"../../evil name.bin\""
      })
    let directory = fixture.directory.path("deep/er")
    let request = fixture.session.download(
      server.url("/a.bin"),
      to: { name, head in
        #expect(name == "evil name.bin")
        #expect(head?.status == 200)
        let url = URL(fileURLWithPath: directory).appendingPathComponent(name)
        return (url, .createIntermediateDirectories)
      })
    let response = await request.serializingDownloadedFileURL().response
    #expect(response.value?.path == fixture.directory.path("deep/er/evil name.bin"))
    #expect(response.filePath == response.value?.path)
    #expect(request.fileURL == response.value)
    #expect(try sha256(ofFile: fixture.directory.path("deep/er/evil name.bin")) == Self.payload.sha256)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("deep/er")).count == 1)
  }

  @Test("the suggested name comes from the request's own URL, not from the target of a redirect")
  func suggestedName() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer(files: ["/nice.bin": Self.file.redirecting(to: "/.bashrc"), "/.bashrc": Self.file])
    let request = fixture.session.download(
      server.url("/nice.bin"),
      to: DownloadRequest.suggestedDownloadDestination(in: URL(fileURLWithPath: fixture.directory.path(""))))
    #expect(try await request.serializingFile().value == fixture.directory.path("nice.bin"))
    #expect(try fixture.names() == ["nice.bin"])
  }

  @Test("without a destination the file gets a unique name in the temporary directory")
  func noDestination() async throws {
    let server = try LoopbackServer(Self.file)
    let path = try await Session().download(server.url("/a.bin")).serializingFile().value
    defer { unlink(path) }
    #expect(path.hasPrefix(SpooledFile.directory + "/TransferEngine-"))
    #expect(path.hasSuffix("-a.bin"))
    #expect(try sha256(ofFile: path) == Self.payload.sha256)
  }

  @Test("an existing file is replaced only with removePreviousFile, and a missing directory is an error")
  func taken() async throws {
    let fixture = try DownloadFixture()
    try fixture.directory.file(DownloadFixture.name, text: "good")
    let server = try LoopbackServer(Self.file)
    let refused = await fixture.session.download(server.url("/"), to: Self.place(fixture.path)).response()
    #expect(refused.error?.code == .destinationExists)
    #expect(try String(contentsOfFile: fixture.path, encoding: .utf8) == "good")
    let missing = await fixture.session.download(server.url("/"), to: Self.place(fixture.path + "/no/file")).response()
    #expect(missing.error?.code == .directoryMissing)
    let relative = await fixture.session.download(
      server.url("/"), to: { _, _ in (URL(string: "http://x/y")!, []) }
    ).response()
    #expect(relative.error?.code == .invalidName)
    let replaced = await fixture.session.download(server.url("/"), to: Self.place(fixture.path, .removePreviousFile))
      .response()
    #expect(replaced.error == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a download can be resumed from resume data alone, with the same path and options")
  func resumingWith() async throws {
    let fixture = try DownloadFixture()
    try fixture.directory.file(DownloadFixture.name, text: "old")
    let server = try LoopbackServer(Self.file.dropping(after: 150_000))
    let first = await fixture.session.download(server.url("/a"), to: Self.place(fixture.path, .removePreviousFile))
      .response()
    let data = try #require(first.resumeData?.encoded())
    let authorized = Adapter { request, _ in
      var request = request
      request.headers[.authorization] = "Bearer late"
      return request
    }
    let second = Session().download(resumingWith: data, interceptor: authorized)
    let response = await second.serializingFile().response
    #expect(response.value == fixture.path)
    #expect(response.resumedFrom == 150_000)
    #expect(server.requests.map(\.range) == [nil, "150000-"])
    #expect(server.requests[1].headers["Authorization"] == "Bearer late")
    #expect(String(decoding: data, as: UTF8.self).contains("late") == false)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a resumed download can have a new destination")
  func resumingElsewhere() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer(Self.file.dropping(after: 150_000))
    let first = await fixture.session.download(server.url("/a"), to: Self.place(fixture.directory.path("one")))
      .response()
    let data = try #require(first.resumeData?.encoded())
    let elsewhere = Self.place(fixture.directory.path("sub/two"), .createIntermediateDirectories)
    let second = await Session().download(resumingWith: data, to: elsewhere).response()
    #expect(second.filePath == fixture.directory.path("sub/two"))
    #expect(second.resumedFrom == 150_000)
    #expect(try fixture.names() == ["sub"])
    #expect(try sha256(ofFile: fixture.directory.path("sub/two")) == Self.payload.sha256)
  }

  @Test("bytes that are no resume data fail the request")
  func noResumeData() async {
    #expect(await Session().download(resumingWith: Data("nonsense".utf8)).response().error?.code == .invalidResumeData)
  }

  @Test("a retry resumes from the stored bytes and calls the destination closure again")
  func retried() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer(Self.file.dropping(after: 100_000, on: .first(2)))
    let chosen = Watched(0)
    let path = fixture.path
    let request = fixture.session.download(
      server.url("/a"), interceptor: .atOnce(2),
      to: { _, _ in
        chosen.mutate { $0 += 1 }
        return (URL(fileURLWithPath: path), [])
      })
    #expect(await request.response().error == nil)
    #expect(server.requests.map(\.range) == [nil, "100000-", "200000-"])
    #expect(chosen.value == 3)
    #expect(request.retryCount == 2)
    try fixture.expectOnly(Self.payload)
  }

  // MARK: Validation

  @Test("a response that validation rejects during a resume does not remove the stored bytes")
  func refusedOnResume() async throws {
    let server = try LoopbackServer(Self.file.page(on: .at(1)).dropping(after: 150_000))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).validate(contentType: ["application/*"]).response()
    let data = try #require(first.resumeData?.encoded())
    let second = try await fixture.download(server, resumingWith: data).validate(contentType: ["application/*"])
      .response()
    #expect(second.error?.code == .unacceptableContentType)
    try fixture.expectPart(second.resumeData, holds: 150_000, of: Self.payload)
    let third = try await fixture.download(server, resumingWith: second.resumeData?.encoded())
      .validate(contentType: ["application/*"]).response()
    #expect(third.error == nil && third.resumedFrom == 150_000)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a head that validation rejects creates no file and keeps the existing file")
  func refusedHead() async throws {
    struct Oops: Error {}
    let server = try LoopbackServer(Self.file)
    let fixture = try DownloadFixture()
    try fixture.directory.file(DownloadFixture.name, text: "good")
    let response = try await fixture.download(server, options: .removePreviousFile).validate { request, head in
      #expect(request.url.path == "/file.bin" && head.status == 200)
      return .failure(Oops())
    }.response()
    #expect(response.error?.code == .hook)
    #expect(response.resumeData == nil)
    #expect(try fixture.names() == [DownloadFixture.name])
    #expect(try String(contentsOfFile: fixture.path, encoding: .utf8) == "good")
  }

  @Test("the complete file can be validated before its rename, and a rejected file is removed")
  func refusedFile() async throws {
    struct Oops: Error {}
    let fixture = try DownloadFixture()
    let server = try LoopbackServer(Self.file)
    for isGood in [false, true] {
      let request = try fixture.download(server).validate { _, head, url in
        #expect((try? sha256(ofFile: url.path)) == Self.payload.sha256)
        #expect(FileFacts(fixture.path) == nil)
        return isGood ? .success : .failure(Oops())
      }
      let response = await request.response()
      #expect((response.error == nil) == isGood)
      #expect(response.resumeData == nil)
      #expect(try fixture.names() == (isGood ? [DownloadFixture.name] : []))
    }
  }

  @Test("validation accepts a 416 response that completes the download")
  func alreadyThere() async throws {
    let fixture = try DownloadFixture()
    let server = try LoopbackServer(
      Self.file.chunked().interrupting(after: Self.payload.size, on: .first(1), with: .close))
    let first = try await fixture.download(server).validate().response()
    #expect(first.bytesOnDisk == Self.payload.size)
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).validate().response()
    #expect(second.error == nil)
    #expect(second.head?.status == 416)
    try fixture.expectOnly(Self.payload)
  }

  // MARK: Handlers

  @Test("response handlers and serializing tasks decode the downloaded file")
  func handlers() async throws {
    struct Value: Codable, Sendable, Equatable { var a: Int }
    let server = try LoopbackServer(.file(Payload(Data("{\"a\":1}".utf8))))
    let fixture = try DownloadFixture()
    let calls = Watched<[String]>([])
    let request = try fixture.download(server)
    request.response { response in calls.mutate { $0.append("url \(response.value??.lastPathComponent ?? "")") } }
      .responseData { response in calls.mutate { $0.append("data \(response.value?.count ?? 0)") } }
      .responseString { response in calls.mutate { $0.append("string \(response.value ?? "")") } }
      .responseDecodable(of: Value.self) { response in calls.mutate { $0.append("\(response.value?.a ?? 0)") } }
      .responseURL { response in calls.mutate { $0.append(response.value?.lastPathComponent ?? "") } }
    try await calls.wait(for: "all handlers") { $0.count == 5 ? () : nil }
    #expect(calls.value == ["url file.bin", "data 7", "string {\"a\":1}", "1", "file.bin"])
    #expect(try await request.serializingDecodable(Value.self).value == Value(a: 1))
    #expect(try await request.serializingString().value == "{\"a\":1}")
    #expect(try await request.serializingDownload(using: .data).value.count == 7)
    #expect(server.requests.count == 1)
    let text = await request.response().debugDescription
    #expect(text.contains("[Response]: HTTP/1.1 200") && text.contains(fixture.path))
  }

  // MARK: Cancelling

  @Test("a cancelled download keeps its part file only with producingResumeData", arguments: [true, false])
  func cancelling(_ keeps: Bool) async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 200_000))
    let fixture = try DownloadFixture()
    let arrived = Watched<Int64>(0)
    let request = try fixture.download(server).downloadProgress { step in arrived.mutate { $0 = step.completed } }
      .resume()
    try await arrived.wait(for: "half of it") { $0 == 200_000 ? () : nil }
    request.cancel(producingResumeData: keeps)
    let response = await request.response()
    #expect(response.error?.code == .cancelled)
    #expect((response.resumeData != nil) == keeps)
    #expect((request.resumeData != nil) == keeps)
    #expect(try fixture.names().count == (keeps ? 1 : 0))
  }

  @Test("cancel with a closure gives it the resume data")
  func cancellingWithClosure() async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 200_000))
    let fixture = try DownloadFixture()
    let arrived = Watched<Int64>(0)
    let request = try fixture.download(server).downloadProgress { step in arrived.mutate { $0 = step.completed } }
      .resume()
    try await arrived.wait(for: "half of it") { $0 == 200_000 ? () : nil }
    let data = Watched<Data?>(nil)
    request.cancel { produced in data.mutate { $0 = produced } }
    let produced = try await data.wait(for: "resume data") { $0 }
    #expect(ResumeData(produced)?.checkpointBytes == 200_000)
  }

  @Test("cancelling the task that awaits a file cancels the download and keeps the received bytes")
  func cancelledAwaiting() async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 200_000))
    let fixture = try DownloadFixture()
    let arrived = Watched<Int64>(0)
    let request = try fixture.download(server).downloadProgress { step in arrived.mutate { $0 = step.completed } }
    let waiting = Task { await request.serializingFile().response }
    try await arrived.wait(for: "half of it") { $0 == 200_000 ? () : nil }
    waiting.cancel()
    let response = await waiting.value
    #expect(response.error?.code == .cancelled)
    try fixture.expectPart(response.resumeData, holds: 200_000, of: Self.payload)
  }
}

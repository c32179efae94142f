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

  @Test("a destination is chosen when the head is there, by a safe name and the head")
  func chosen() async throws {
    let room = try DownloadRoom()
    let server = try LoopbackServer(
      Self.file.answering { answer, _ in
        answer.headers["Content-Disposition"] = "attachment; filename=\"../../evil name.bin\""
      })
    let directory = room.directory.path("deep/er")
    let request = room.session.download(
      server.url("/a.bin"),
      to: { name, head in
        #expect(name == "evil name.bin")
        #expect(head?.status == 200)
        let url = URL(fileURLWithPath: directory).appendingPathComponent(name)
        return (url, .createIntermediateDirectories)
      })
    let response = await request.serializingDownloadedFileURL().response
    #expect(response.value?.path == room.directory.path("deep/er/evil name.bin"))
    #expect(response.filePath == response.value?.path)
    #expect(request.fileURL == response.value)
    #expect(try sha256(ofFile: room.directory.path("deep/er/evil name.bin")) == Self.payload.sha256)
    #expect(try FileManager.default.contentsOfDirectory(atPath: room.directory.path("deep/er")).count == 1)
  }

  @Test("the URL's own name is suggested where the response names none, whatever it redirects to")
  func suggestedName() async throws {
    let room = try DownloadRoom()
    let server = try LoopbackServer(files: ["/nice.bin": Self.file.redirecting(to: "/.bashrc"), "/.bashrc": Self.file])
    let request = room.session.download(
      server.url("/nice.bin"),
      to: DownloadRequest.suggestedDownloadDestination(in: URL(fileURLWithPath: room.directory.path(""))))
    #expect(try await request.serializingFile().value == room.directory.path("nice.bin"))
    #expect(try room.names() == ["nice.bin"])
  }

  @Test("without a destination the file has a name of its own in the temporary directory")
  func noDestination() async throws {
    let server = try LoopbackServer(Self.file)
    let path = try await Session().download(server.url("/a.bin")).serializingFile().value
    defer { unlink(path) }
    #expect(path.hasPrefix(SpooledFile.directory + "/TransferEngine-"))
    #expect(path.hasSuffix("-a.bin"))
    #expect(try sha256(ofFile: path) == Self.payload.sha256)
  }

  @Test("a chosen destination that exists stays unless it may be replaced; a missing directory is an error")
  func taken() async throws {
    let room = try DownloadRoom()
    try room.directory.file(DownloadRoom.name, text: "good")
    let server = try LoopbackServer(Self.file)
    let refused = await room.session.download(server.url("/"), to: Self.place(room.path)).response()
    #expect(refused.error?.code == .destinationExists)
    #expect(try String(contentsOfFile: room.path, encoding: .utf8) == "good")
    let missing = await room.session.download(server.url("/"), to: Self.place(room.path + "/no/file")).response()
    #expect(missing.error?.code == .directoryMissing)
    let relative = await room.session.download(
      server.url("/"), to: { _, _ in (URL(string: "http://x/y")!, []) }
    ).response()
    #expect(relative.error?.code == .invalidName)
    let replaced = await room.session.download(server.url("/"), to: Self.place(room.path, .removePreviousFile))
      .response()
    #expect(replaced.error == nil)
    try room.expectOnly(Self.payload)
  }

  @Test("resume data is enough to resume: it has the place, the name and the options")
  func resumingWith() async throws {
    let room = try DownloadRoom()
    try room.directory.file(DownloadRoom.name, text: "old")
    let server = try LoopbackServer(Self.file.dropping(after: 150_000))
    let first = await room.session.download(server.url("/a"), to: Self.place(room.path, .removePreviousFile)).response()
    let data = try #require(first.resumeData?.encoded())
    let authorized = Adapter { request, _ in
      var request = request
      request.headers[.authorization] = "Bearer late"
      return request
    }
    let second = Session().download(resumingWith: data, interceptor: authorized)
    let response = await second.serializingFile().response
    #expect(response.value == room.path)
    #expect(response.resumedFrom == 150_000)
    #expect(server.requests.map(\.range) == [nil, "150000-"])
    #expect(server.requests[1].headers["Authorization"] == "Bearer late")
    #expect(String(decoding: data, as: UTF8.self).contains("late") == false)
    try room.expectOnly(Self.payload)
  }

  @Test("a new destination may be given when going on, and gets the file")
  func resumingElsewhere() async throws {
    let room = try DownloadRoom()
    let server = try LoopbackServer(Self.file.dropping(after: 150_000))
    let first = await room.session.download(server.url("/a"), to: Self.place(room.directory.path("one"))).response()
    let data = try #require(first.resumeData?.encoded())
    let elsewhere = Self.place(room.directory.path("sub/two"), .createIntermediateDirectories)
    let second = await Session().download(resumingWith: data, to: elsewhere).response()
    #expect(second.filePath == room.directory.path("sub/two"))
    #expect(second.resumedFrom == 150_000)
    #expect(try room.names() == ["sub"])
    #expect(try sha256(ofFile: room.directory.path("sub/two")) == Self.payload.sha256)
  }

  @Test("bytes that are no resume data fail the request")
  func noResumeData() async {
    #expect(await Session().download(resumingWith: Data("nonsense".utf8)).response().error?.code == .invalidResumeData)
  }

  @Test("a retry continues from the stored bytes although the destination is chosen again")
  func retried() async throws {
    let room = try DownloadRoom()
    let server = try LoopbackServer(Self.file.dropping(after: 100_000, on: .first(2)))
    let chosen = Watched(0)
    let path = room.path
    let request = room.session.download(
      server.url("/a"), interceptor: .atOnce(2),
      to: { _, _ in
        chosen.mutate { $0 += 1 }
        return (URL(fileURLWithPath: path), [])
      })
    #expect(await request.response().error == nil)
    #expect(server.requests.map(\.range) == [nil, "100000-", "200000-"])
    #expect(chosen.value == 3)
    #expect(request.retryCount == 2)
    try room.expectOnly(Self.payload)
  }

  // MARK: Validation

  @Test("a page that is refused on resume does not cost stored bytes")
  func refusedOnResume() async throws {
    let server = try LoopbackServer(Self.file.page(on: .at(1)).dropping(after: 150_000))
    let room = try DownloadRoom()
    let first = try await room.download(server).validate(contentType: ["application/*"]).response()
    let data = try #require(first.resumeData?.encoded())
    let second = try await room.download(server, resumingWith: data).validate(contentType: ["application/*"]).response()
    #expect(second.error?.code == .unacceptableContentType)
    try room.expectPart(second.resumeData, holds: 150_000, of: Self.payload)
    let third = try await room.download(server, resumingWith: second.resumeData?.encoded())
      .validate(contentType: ["application/*"]).response()
    #expect(third.error == nil && third.resumedFrom == 150_000)
    try room.expectOnly(Self.payload)
  }

  @Test("a refused head makes no file, and leaves the existing one")
  func refusedHead() async throws {
    struct Oops: Error {}
    let server = try LoopbackServer(Self.file)
    let room = try DownloadRoom()
    try room.directory.file(DownloadRoom.name, text: "good")
    let response = try await room.download(server, options: .removePreviousFile).validate { request, head in
      #expect(request.url.path == "/file.bin" && head.status == 200)
      return .failure(Oops())
    }.response()
    #expect(response.error?.code == .hook)
    #expect(response.resumeData == nil)
    #expect(try room.names() == [DownloadRoom.name])
    #expect(try String(contentsOfFile: room.path, encoding: .utf8) == "good")
  }

  @Test("the whole file can be validated before it gets its name; a refused one is not resumed")
  func refusedFile() async throws {
    struct Oops: Error {}
    let room = try DownloadRoom()
    let server = try LoopbackServer(Self.file)
    for isGood in [false, true] {
      let request = try room.download(server).validate { _, head, url in
        #expect((try? sha256(ofFile: url.path)) == Self.payload.sha256)
        #expect(FileFacts(room.path) == nil)
        return isGood ? .success : .failure(Oops())
      }
      let response = await request.response()
      #expect((response.error == nil) == isGood)
      #expect(response.resumeData == nil)
      #expect(try room.names() == (isGood ? [DownloadRoom.name] : []))
    }
  }

  @Test("a file that is all there already is not asked about its head: 416 is no refusal")
  func alreadyThere() async throws {
    let room = try DownloadRoom()
    let server = try LoopbackServer(
      Self.file.chunked().interrupting(after: Self.payload.size, on: .first(1), with: .close))
    let first = try await room.download(server).validate().response()
    #expect(first.bytesOnDisk == Self.payload.size)
    let second = try await room.download(server, resumingWith: first.resumeData?.encoded()).validate().response()
    #expect(second.error == nil)
    #expect(second.head?.status == 416)
    try room.expectOnly(Self.payload)
  }

  // MARK: Handlers

  @Test("handlers and awaiting forms give the file as what it was asked for")
  func handlers() async throws {
    struct Value: Codable, Sendable, Equatable { var a: Int }
    let server = try LoopbackServer(.file(Payload(Data("{\"a\":1}".utf8))))
    let room = try DownloadRoom()
    let calls = Watched<[String]>([])
    let request = try room.download(server)
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
    #expect(text.contains("[Response]: HTTP/1.1 200") && text.contains(room.path))
  }

  // MARK: Cancelling

  @Test("cancelled with or without resume data", arguments: [true, false])
  func cancelling(_ keeps: Bool) async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 200_000))
    let room = try DownloadRoom()
    let arrived = Watched<Int64>(0)
    let request = try room.download(server).downloadProgress { step in arrived.mutate { $0 = step.completed } }.resume()
    try await arrived.wait(for: "half of it") { $0 == 200_000 ? () : nil }
    request.cancel(producingResumeData: keeps)
    let response = await request.response()
    #expect(response.error?.code == .cancelled)
    #expect((response.resumeData != nil) == keeps)
    #expect((request.resumeData != nil) == keeps)
    #expect(try room.names().count == (keeps ? 1 : 0))
  }

  @Test("cancel with a closure gives it the resume data")
  func cancellingWithClosure() async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 200_000))
    let room = try DownloadRoom()
    let arrived = Watched<Int64>(0)
    let request = try room.download(server).downloadProgress { step in arrived.mutate { $0 = step.completed } }.resume()
    try await arrived.wait(for: "half of it") { $0 == 200_000 ? () : nil }
    let data = Watched<Data?>(nil)
    request.cancel { produced in data.mutate { $0 = produced } }
    let produced = try await data.wait(for: "resume data") { $0 }
    #expect(ResumeData(produced)?.checkpointBytes == 200_000)
  }

  @Test("cancelling the task that awaits a file cancels the download and keeps what there is")
  func cancelledAwaiting() async throws {
    let server = try LoopbackServer(Self.file.stalling(after: 200_000))
    let room = try DownloadRoom()
    let arrived = Watched<Int64>(0)
    let request = try room.download(server).downloadProgress { step in arrived.mutate { $0 = step.completed } }
    let waiting = Task { await request.serializingFile().response }
    try await arrived.wait(for: "half of it") { $0 == 200_000 ? () : nil }
    waiting.cancel()
    let response = await waiting.value
    #expect(response.error?.code == .cancelled)
    try room.expectPart(response.resumeData, holds: 200_000, of: Self.payload)
  }
}

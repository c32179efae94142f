import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct MultipartFormDataTests {
  private func text(_ form: MultipartFormData) throws -> String { String(decoding: try form.encode(), as: UTF8.self) }

  @Test("a form with one part and with several parts is encoded as in Alamofire")
  func format() throws {
    let form = MultipartFormData(boundary: "B")
    #expect(try form.encode().isEmpty)
    form.append(Data("Lorem".utf8), withName: "data")
    #expect(
      try text(form) == "--B\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\nLorem\r\n--B--\r\n")
    form.append(Data("ipsum".utf8), withName: "french", fileName: "f.txt", mimeType: "text/plain")
    form.append(Data(), withName: "empty")
    #expect(
      try text(form)
        == "--B\r\nContent-Disposition: form-data; name=\"data\"\r\n\r\nLorem"
        + "\r\n--B\r\nContent-Disposition: form-data; name=\"french\"; filename=\"f.txt\"\r\nContent-Type: text/plain\r\n\r\nipsum"
        + "\r\n--B\r\nContent-Disposition: form-data; name=\"empty\"\r\n\r\n" + "\r\n--B--\r\n")
    #expect(form.contentLength == 10)
    #expect(try form.encodedLength() == Int64(form.encode().count))
    #expect(form.contentType == "multipart/form-data; boundary=B")
  }

  @Test(
    "special characters in a name do not end its quotes or its line",
    arguments: [
      ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("日本 é", "日本 é"), ("a\\b", "a\\b"), ("a\0\u{B}b", "a%00%0Bb"),
      ("tab\t", "tab\t"), ("100%", "100%"), ("", ""),
    ])
  func quoting(_ name: String, _ expected: String) throws {
    let form = MultipartFormData(boundary: "B")
    form.append(Data(), withName: name, fileName: name, mimeType: "a/b\r\nX: y")
    #expect(
      try text(form).hasPrefix(
        "--B\r\nContent-Disposition: form-data; name=\"\(expected)\"; filename=\"\(expected)\"\r\n"
          + "Content-Type: a/b%0D%0AX: y\r\n\r\n"))
  }

  @Test("generated boundaries are unique, and an invalid given boundary is refused")
  func boundaries() throws {
    let boundaries = Set((0..<100).map { _ in MultipartFormData().boundary })
    #expect(boundaries.count == 100)
    #expect(boundaries.allSatisfy { MultipartFormat.isValid($0) && $0.utf8.count <= 70 })
    #expect(MultipartFormData(boundary: "a b:c").contentType == "multipart/form-data; boundary=\"a b:c\"")
    for bad in ["", String(repeating: "x", count: 71), "a\r\nb", "a\"b", "é", "a "] {
      #expect { try MultipartFormData(boundary: bad).segments() } throws: {
        if case TransferError.multipart(.invalidBoundary) = $0 { true } else { false }
      }
    }
  }

  @Test("files keep their name and get the type of their extension")
  func files() throws {
    let directory = try TemporaryDirectory()
    let url = URL(fileURLWithPath: try directory.file("a b é.PNG", text: "png"))
    let form = MultipartFormData(boundary: "B")
    form.append(url, withName: "f")
    form.append(url, withName: "g", fileName: "other.bin", mimeType: "x/y")
    #expect(
      try text(form)
        == "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a b é.PNG\"\r\nContent-Type: image/png\r\n\r\npng"
        + "\r\n--B\r\nContent-Disposition: form-data; name=\"g\"; filename=\"other.bin\"\r\nContent-Type: x/y\r\n\r\npng"
        + "\r\n--B--\r\n")
    #expect(form.contentLength == 6)
  }

  @Test("the first part that could not be appended fails the form when it is used")
  func failures() throws {
    let directory = try TemporaryDirectory()
    func failure(_ fill: (MultipartFormData) -> Void) -> TransferError.MultipartFailure? {
      let form = MultipartFormData()
      fill(form)
      form.append(URL(string: "https://later.test/x.png")!, withName: "f")
      do {
        _ = try form.encode()
        return nil
      } catch {
        if case .multipart(let failure) = error { return failure }
        return nil
      }
    }
    let missing = URL(fileURLWithPath: directory.path("none.png"))
    #expect(
      failure { $0.append(missing, withName: "f") }
        == .bodyPartFileNotReachable(at: missing.path, reason: "No such file or directory"))
    #expect(
      failure { $0.append(URL(fileURLWithPath: directory.path), withName: "f") }
        == .bodyPartFileIsDirectory(at: directory.path))
    #expect(
      failure { $0.append(URL(string: "https://e.test/x.png")!, withName: "f") } == .bodyPartURLInvalid(url: "https"))
    #expect(failure { $0.append(URL(fileURLWithPath: "/"), withName: "f") } == .bodyPartFilenameInvalid(in: "/"))
    #expect(failure { _ in } == .bodyPartURLInvalid(url: "https"))
  }

  @Test("a form is written only to a new file, and a failed write leaves no file")
  func writing() throws {
    let directory = try TemporaryDirectory()
    let payload = Payload(size: 3 << 20)
    let source = URL(fileURLWithPath: try directory.file("source", payload.data))
    let form = MultipartFormData()
    form.append(source, withName: "f")
    form.append(Data("x".utf8), withName: "x")
    let target = URL(fileURLWithPath: directory.path("form"))
    try form.writeEncodedData(to: target)
    #expect(try Data(contentsOf: target) == form.encode())
    #expect(FileFacts(target.path)?.mode == 0o600)
    #expect { try form.writeEncodedData(to: target) } throws: {
      if case TransferError.multipart(.outputStreamFileAlreadyExists(at: target.path)) = $0 { true } else { false }
    }
    let second = URL(fileURLWithPath: directory.path("second"))
    #expect(truncate(source.path, 10) == 0)
    #expect(throws: TransferError.self) { try form.writeEncodedData(to: second) }
    #expect(try directory.names() == ["form", "source"])
  }

  @Test(
    "media types are found by file extension",
    arguments: [
      ("a.txt", "text/plain"), ("a.JPEG", "image/jpeg"), ("x.tar.gz", "application/gzip"),
      ("noext", "application/octet-stream"),
      (".profile", "application/octet-stream"), ("a.", "application/octet-stream"),
      ("a.unknown-xyz", "application/octet-stream"),
      ("movie.mp4", "video/mp4"), ("f.json", "application/json"),
    ])
  func mediaTypes(_ name: String, _ type: String) {
    #expect(MediaTypeTable.mediaType(forFileName: name) == type)
  }

  @Test("a table in the form of mime.types(5) is read")
  func mimeTypes() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.file("m", text: "# x/y z\nx/one\ta B\n\nx/two a c\nnonsense d\nx/none\n")
    #expect(MediaTypeTable.read(path) == ["a": "x/one", "b": "x/one", "c": "x/two"])
    #expect(MediaTypeTable.read(directory.path("none")).isEmpty)
  }

  private func pieces(_ texts: [String], throwing error: (any Error)? = nil) -> AsyncThrowingStream<Data, any Error> {
    AsyncThrowingStream { continuation in
      for text in texts { continuation.yield(Data(text.utf8)) }
      continuation.finish(throwing: error)
    }
  }

  @Test("a stream part can be sent again as long as the form's body exists")
  func streams() async throws {
    var form: MultipartFormData? = MultipartFormData(boundary: "B")
    await form?.append(pieces(["ab", "", "cde"]), withLength: 5, name: "s", fileName: "f", mimeType: "x/y")
    await form?.append(pieces([]), withLength: 0, name: "e", fileName: "g", mimeType: "x/y")
    #expect(form?.contentLength == 5)
    let expected = try form?.encode()
    let body = try #require(try form?.requestBody())
    form = nil
    #expect(
      String(decoding: try #require(expected), as: UTF8.self)
        == "--B\r\nContent-Disposition: form-data; name=\"s\"; filename=\"f\"\r\nContent-Type: x/y\r\n\r\nabcde"
        + "\r\n--B\r\nContent-Disposition: form-data; name=\"e\"; filename=\"g\"\r\nContent-Type: x/y\r\n\r\n\r\n--B--\r\n"
    )
    let server = try LoopbackServer { request in
      request.path == "/a" ? .response(307, headers: ["Location": "/b"]) : .response(200)
    }
    let response = await Session().request(try RequestURL(server.url("/a")), method: .post, body: body).response()
    #expect(response.error == nil)
    #expect(server.requests.map(\.body) == [expected, expected])
  }

  @Test("a stream that fails or has another length than announced fails the form")
  func brokenStreams() async throws {
    func failure(_ texts: [String], _ length: Int64, _ error: (any Error)? = nil) async -> String {
      let form = MultipartFormData()
      await form.append(
        pieces(texts, throwing: error), withLength: length, name: "s", fileName: "f", mimeType: "x/y")
      do {
        return "\(try form.encode())"
      } catch {
        return "\(error)"
      }
    }
    #expect(await failure(["abc"], 4).contains("produced 3 bytes"))
    #expect(await failure(["abc", "de"], 4).contains("4 were announced"))
    #expect(await failure(["abc"], 3, CocoaError(.fileNoSuchFile)).contains("cannot read the stream"))
  }

  @Test("Python's MIME parser reads all parts of the form back", arguments: 0..<4)
  func parsed(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let form = MultipartFormData()
    var expected: [String] = []
    for index in 0..<12 {
      let content = Data(
        (0..<Int.random(in: 0...3000, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
      let name = "n\(index) é\"'"
      if index.isMultiple(of: 2) {
        form.append(content, withName: name)
      } else {
        let path = try directory.file("file \(index).png", content)
        form.append(URL(fileURLWithPath: path), withName: name)
      }
      let file = index.isMultiple(of: 2) ? "-" : "file \(index).png"
      expected.append("n\(index) é%22'|\(file)|\(sha256(of: content))")
    }
    try directory.file("body", form.encode())
    let script = """
      import email.parser, email.policy, hashlib, sys
      body = open(sys.argv[1], 'rb').read()
      head = ('MIME-Version: 1.0\\r\\nContent-Type: ' + sys.argv[2] + '\\r\\n\\r\\n').encode()
      message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
      for part in message.iter_parts():
        name = part.get_param('name', header='content-disposition')
        print(name, part.get_filename() or '-', hashlib.sha256(part.get_payload(decode=True)).hexdigest(), sep='|')
      """
    let child = try ChildProcess(
      Launch(
        "/usr/bin/python3", ["-c", script, directory.path("body"), form.contentType],
        environment: ["PYTHONIOENCODING": "utf-8:surrogateescape", "PYTHONUTF8": "1"]))
    let result = try await child.result()
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.lines == expected)
  }

  @Test("a form is sent as one body with Content-Length")
  func onTheWire() async throws {
    let directory = try TemporaryDirectory()
    let form = MultipartFormData()
    for index in 0..<200 {
      let path = try directory.file("f\(index)", Data(repeating: UInt8(index), count: index * 37))
      form.append(URL(fileURLWithPath: path), withName: "file\(index)")
    }
    let server = try LoopbackServer { _ in .response(200) }
    let response = await Session().request(
      try RequestURL(server.url("/")), method: .post, headers: [.contentType: form.contentType],
      body: try form.requestBody()
    ).response()
    #expect(response.error == nil)
    #expect(server.requests[0].headers["Content-Length"] == "\(try form.encodedLength())")
    #expect(server.requests[0].headers["Content-Type"] == form.contentType)
    #expect(server.requests[0].bodySHA256 == sha256(of: try form.encode()))
  }
}

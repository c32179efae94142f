import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct FormUploadTests {
  @Test("a form carries the fields, then the file, whatever its size", arguments: [0, 1, 5 << 20 + 1] as [Int64])
  func form(_ size: Int64) async throws {
    let fixture = try UploadFixture(size: size)
    let server = try LoopbackServer { _ in .response(200) }
    let options = FormOptions(
      fileField: "photo", fields: [.init(name: "title", value: "Sun \"set\""), .init(name: "tag", value: "a")],
      fileName: "s.jpg")
    let request = fixture.session.upload(try fixture.upload(to: server.url("/form"), by: .form(options), method: .post))
    let response = await request.response()
    #expect(word(response.error) == "success")
    let sent = server.requests[0]
    #expect(sent.method == "POST")
    let type = try #require(sent.headers["Content-Type"])
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = String(type.dropFirst("multipart/form-data; boundary=".count))
    let head = """
      --\(boundary)\r
      Content-Disposition: form-data; name="title"\r
      \r
      Sun "set"\r
      --\(boundary)\r
      Content-Disposition: form-data; name="tag"\r
      \r
      a\r
      --\(boundary)\r
      Content-Disposition: form-data; name="photo"; filename="s.jpg"\r
      Content-Type: image/jpeg\r
      \r

      """
    let whole = Data(head.utf8) + fixture.payload.data + Data("\r\n--\(boundary)--\r\n".utf8)
    #expect(sent.bodySHA256 == sha256(of: whole))
    #expect(sent.headers["Content-Length"] == String(whole.count))
    #expect(request.progress == UploadProgress(sent: size, acknowledged: size, total: size))
    #expect(response.bytesSent == Int64(whole.count))
  }

  @Test("a form is not sent again after a lost response")
  func lost() async throws {
    let fixture = try UploadFixture(size: 1000)
    let server = try LoopbackServer { _ in [.reset] }
    let response = await fixture.send(
      try fixture.upload(to: server.url("/form"), by: .form(FormOptions()), method: .post), interceptor: .atOnce(3))
    #expect(word(response.error) == "unknown")
    #expect(response.error?.isTransient == false)
    #expect(server.requests.count == 1)
  }
}

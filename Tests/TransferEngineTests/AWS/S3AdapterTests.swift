import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite struct S3AdapterTests {
  private static func adapter(
    _ options: S3Options = S3Options(), _ variables: [String: String] = ["AWS_REGION": "eu-west-1"]
  ) -> S3Adapter {
    let keys = ["HOME": "/h", "AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "s3cret"]
    return S3Adapter(
      options: options, environment: AWSEnvironment(variables: keys.merging(variables) { $1 }) { _ in nil })
  }

  private func request(_ url: String) throws -> TransferRequest {
    TransferRequest(url: try RequestURL(allowingS3: url))
  }

  /// The request as it is sent.
  private func signed(_ request: TransferRequest) throws -> TransferRequest {
    try #require(request.signer).signed(request)
  }

  @Test("an s3 URL becomes the object's URL at its endpoint, and every request is signed when it is sent")
  func adapts() async throws {
    let adapted = try await Self.adapter().adapt(try request("s3://bucket/a%20b/c+d"), for: Session())
    #expect(adapted.url.string == "https://bucket.s3.eu-west-1.amazonaws.com:443/a%20b/c%2Bd")
    #expect(adapted.redirects == .sameOrigin)
    #expect(adapted.headers[.authorization] == nil)
    var part = adapted
    part.headers[.range] = "bytes=5-"
    let sent = try signed(part)
    let authorization = try #require(sent.headers[.authorization])
    #expect(authorization.contains("Credential=KEY/") && authorization.contains("/eu-west-1/s3/aws4_request"))
    #expect(sent.headers[.amzDate] != nil && sent.headers[.range] == "bytes=5-")
    #expect(try signed(adapted).headers[.authorization] != authorization)
    #expect(!authorization.contains("accept-encoding"))
  }

  @Test("the request's own key and the options precede the environment, and other URLs stay as they are")
  func order() async throws {
    let adapter = Self.adapter(S3Options(endpoint: "http://127.0.0.1:9000", region: "r"))
    let adapted = try await adapter.adapt(try request("s3://OWN:secret@bucket/k"), for: Session())
    #expect(adapted.url.string == "http://127.0.0.1:9000/bucket/k")
    #expect(adapted.credentials == nil)
    #expect(try signed(adapted).headers[.authorization]?.contains("Credential=OWN/") == true)
    let plain = try await adapter.adapt(try request("https://host/k"), for: Session())
    #expect(plain.signer == nil && plain.url.string == "https://host/k")
  }

  @Test("without ambient credentials a request needs a key of its own")
  func ambient() async throws {
    var request = try request("s3://bucket/k")
    request.usesAmbientCredentials = false
    let (adapter, session) = (Self.adapter(), Session())
    do {
      _ = try await adapter.adapt(request, for: session)
      Issue.record("the environment's key is used")
    } catch {
      #expect((error as? TransferError)?.description.contains("own access key") == true, "\(error)")
    }
  }

  @Test(
    "a bucket in another region is asked for once more there",
    arguments: [
      (301, "eu-central-1", true), (400, "eu-central-1", true), (403, "eu-central-1", false), (301, "a/b", false),
    ])
  func region(_ status: Int, _ region: String, _ isRepeated: Bool) async throws {
    let (adapter, session) = (Self.adapter(), Session())
    let request = try request("s3://bucket/k")
    _ = try await adapter.adapt(request, for: session)
    var fields = HTTPFields()
    fields[HTTPField.Name("x-amz-bucket-region")!] = region
    let failure = FailedAttempt(
      request: request, response: ResponseHead(status: status, headers: fields),
      error: .response(.unacceptableStatus(status, retryAfter: nil)))
    let (first, second) = (
      await adapter.retry(failure, for: session).retryRequired, await adapter.retry(failure, for: session).retryRequired
    )
    #expect(first == isRepeated && !second)
    let again = try await adapter.adapt(request, for: session)
    #expect(again.url.host == "bucket.s3.\(isRepeated ? region : "eu-west-1").amazonaws.com")
  }

  @Test("a redirect to another origin is sent without signature")
  func redirect() async throws {
    let adapted = try await Self.adapter().adapt(try request("s3://bucket/k"), for: Session())
    #expect(adapted.moved(to: try RequestURL("https://bucket.s3.eu-west-1.amazonaws.com/other")).signer != nil)
    #expect(adapted.moved(to: try RequestURL("https://elsewhere.test/k")).signer == nil)
  }

  @Test("a body without a length is compared with the object's length, by a signed request")
  func unknownLength() async throws {
    let payload = Payload(size: 100_000, seed: 3)
    let server = try LoopbackServer(.file(payload).withoutContentLength(on: .first(1)))
    let fixture = try DownloadFixture(keeping: [server])
    let response = try await fixture.download(
      try request("s3://bucket/k"), interceptor: Self.adapter(S3Options(endpoint: server.url("")))
    ).response()
    #expect(response.error == nil && response.verification == .length, "\(String(describing: response.error))")
    let requests = server.requests
    #expect(requests.map(\.method) == ["GET", "HEAD"] && requests.allSatisfy { $0.path == "/bucket/k" })
    #expect(requests.allSatisfy { $0.headers["Authorization"]?.contains("Credential=KEY/") == true })
    try fixture.expectOnly(payload)
  }
}

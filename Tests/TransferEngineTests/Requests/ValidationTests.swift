import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct ValidationTests {
  @Test(
    "without validation every status is a success; with it 2xx alone", arguments: [200, 204, 299, 301, 304, 404, 500])
  func statuses(_ status: Int) async throws {
    let server = try LoopbackServer { _ in .response(status) }
    let session = Session()
    #expect(await session.request(server.url("/")).response().error == nil)
    let response = await session.request(server.url("/")).validate().response()
    #expect(response.error?.status == ((200..<300).contains(status) ? nil : status))
    #expect(response.head?.status == status)
    #expect(await session.request(server.url("/")).validate(statusCode: [status]).response().error == nil)
  }

  typealias Row = (declared: String?, acceptable: [String], isAccepted: Bool)

  @Test(
    "the content type is compared with the acceptable types",
    arguments: [
      ("application/json", ["application/json"], true), ("application/json; charset=utf-8", ["application/json"], true),
      ("Application/JSON", ["application/json"], true), ("text/html", ["text/*"], true),
      ("text/html", ["application/json", "*/*"], true), ("text/html", ["application/json"], false),
      ("text/html", ["*/html"], true), ("text/html", ["text/plain;q=0.5", "text/html ; q=1"], true),
      (nil, ["*/*"], true),
      (nil, ["text/html"], false), ("nonsense", ["*/*"], true), ("nonsense", ["text/*"], false),
      ("text/html", [], false),
    ] as [Row])
  func contentTypes(_ row: Row) async throws {
    let server = try LoopbackServer { _ in
      .response(200, headers: row.declared.map { ["Content-Type": $0] } ?? [:], text: "body")
    }
    let response = await Session().request(server.url("/")).validate(contentType: row.acceptable).response()
    if row.isAccepted {
      #expect(response.error == nil)
    } else {
      guard case .response(.unacceptableContentType(row.declared, row.acceptable))? = response.error else {
        Issue.record("\(String(describing: response.error))")
        return
      }
    }
  }

  @Test("validate() accepts the types in the request's Accept header, and an empty body with any type")
  func accept() async throws {
    let server = try LoopbackServer { request in
      .response(200, headers: ["Content-Type": "text/html"], text: request.path == "/empty" ? "" : "page")
    }
    let session = Session()
    let json: HTTPFields = [.accept: "application/json, application/problem+json;q=0.5"]
    let refused = await session.request(server.url("/"), headers: json).validate().response()
    #expect(refused.error?.code == .unacceptableContentType)
    #expect(refused.error?.isTransient == false)
    #expect(refused.data == Data("page".utf8))
    #expect(await session.request(server.url("/empty"), headers: json).validate().response().error == nil)
    #expect(await session.request(server.url("/"), headers: [.accept: "text/*"]).validate().response().error == nil)
    #expect(await session.request(server.url("/")).validate().response().error == nil)
  }

  private struct Refusal: Error { var number: Int }

  @Test("validations run in their order until one fails, with the request, the head and the body")
  func order() async throws {
    let server = try LoopbackServer { _ in .response(200, text: "body") }
    let calls = Watched<[Int]>([])
    let request = Session().request(server.url("/a"))
    for number in 1...4 {
      request.validate { request, head, data in
        #expect(request.url.path == "/a" && head.status == 200 && data == Data("body".utf8))
        calls.mutate { $0.append(number) }
        return number == 3 ? .failure(Refusal(number: number)) : .success
      }
    }
    let response = await request.response()
    guard case .hook(.validation, let error as Refusal)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(error.number == 3)
    #expect(calls.value == [1, 2, 3])
  }

  @Test("each attempt is validated before the retrier runs, and the retrier gets the validation error")
  func beforeRetrier() async throws {
    let server = try LoopbackServer { .response(200, text: $0.index == 0 ? "maintenance" : "good") }
    let asked = Watched<[FailedAttempt]>([])
    let retrier = Retrier { attempt, _ in
      asked.mutate { $0.append(attempt) }
      return .retry
    }
    let request = Session().request(server.url("/"), interceptor: retrier).validate { _, _, data in
      data == Data("good".utf8) ? .success : .failure(Refusal(number: 1))
    }
    #expect(try await request.serializingString().value == "good")
    #expect(asked.value.count == 1)
    #expect(asked.value[0].response?.status == 200)
    guard case .hook(.validation, _) = asked.value[0].error else {
      Issue.record("\(asked.value[0].error)")
      return
    }
  }

  @Test("the error of a validated status contains Retry-After")
  func retryAfter() async throws {
    let server = try LoopbackServer { _ in .response(503, headers: ["Retry-After": "7"]) }
    #expect(await Session().request(server.url("/")).validate().response().error?.retryAfter == .seconds(7))
  }

  @Test("without a response nothing is validated")
  func noAnswer() async throws {
    let server = try LoopbackServer(.file(size: 10).hangingUp(on: .always))
    let response = await Session().request(server.url("/")).validate { _, _, _ in
      Issue.record("validated")
      return .success
    }.response()
    #expect(response.error != nil && response.head == nil)
  }
}

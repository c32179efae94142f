import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// `Session.send`, with which the daemon tells webhooks.
@Suite(.timeLimit(.minutes(5))) struct SendTests {
  private static let ample = Duration.seconds(200)
  private static let chunked: HeaderList = ["Transfer-Encoding": "chunked"]
  private static let chunk = Script.Step.chunk(Data("more".utf8))

  private func send(
    _ server: LoopbackServer, within limit: Duration = ample
  ) async throws -> (head: ResponseHead?, error: TransferError?) {
    var request = TransferRequest(url: try RequestURL(server.url("/")), method: .post)
    request.body = .data(Data("{}".utf8))
    // Only the limit of the exchange counts.
    request.stallTimeout = nil
    return await Session().send(request, within: limit)
  }

  enum Ending: CaseIterable {
    case never, endless, cut, reset, whole

    func script(_ status: Int) -> Script {
      switch self {
      case .never: [.status(status, headers: SendTests.chunked), SendTests.chunk, .stall]
      case .endless: [.status(status, headers: ["Content-Length": "99999999999"]), .endless(Data(count: 65_536))]
      case .cut: [.status(status, headers: ["Content-Length": "100"]), .body(Data("x".utf8)), .close]
      case .reset: [.status(status, headers: SendTests.chunked), SendTests.chunk, .reset]
      case .whole: .response(status, text: "fine")
      }
    }
  }

  /// A receiver whose response never ended held up all webhooks, and one whose response broke got each event again.
  @Test("the head is the result, however its body goes on", arguments: Ending.allCases, [200, 410, 500])
  func bodies(_ ending: Ending, _ status: Int) async throws {
    let server = try LoopbackServer { _ in ending.script(status) }
    let (head, error) = try await send(server)
    #expect(head?.status == status && error == nil, "\(error as Any)")
    #expect(server.requests.count == 1 && server.requests[0].body == Data("{}".utf8))
  }

  @Test("without a head the limit ends the exchange, also in the body of a redirect", arguments: [false, true])
  func limit(isRedirect: Bool) async throws {
    let server = try LoopbackServer { _ in
      isRedirect
        ? [.status(307, headers: ["Transfer-Encoding": "chunked", "Location": "/"]), Self.chunk, .stall] : [.stall]
    }
    let (head, error) = try await send(server, within: .milliseconds(300))
    guard head == nil, case .connection(.stalled)? = error else {
      Issue.record("\(head as Any), \(error as Any)")
      return
    }
  }

  @Test("a cancelled task ends the exchange")
  func cancelled() async throws {
    let server = try LoopbackServer { _ in [.stall] }
    let task = Task { try await send(server) }
    try await server.waitForRequests(1)
    task.cancel()
    let (head, error) = try await task.value
    #expect(head == nil && error?.isCancellation == true, "\(error as Any)")
  }
}

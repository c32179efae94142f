import ArgumentParser
import Testing

@testable import transferctl

@Suite struct OwnerOptionsTests {
  @Test(
    "--owner is added to every request",
    arguments: [
      ("/v1/jobs", "/v1/jobs?owner=1001"), ("/v1/jobs?batch=b&limit=500", "/v1/jobs?batch=b&limit=500&owner=1001"),
      ("/v1/batches/b", "/v1/batches/b?owner=1001"), ("/v1/jobs:cancel", "/v1/jobs:cancel?owner=1001"),
    ])
  func requests(path: String, narrowed: String) throws {
    let transport = OwnerTransport(base: SocketTransport(socket: "/nowhere"), owner: 1001)
    #expect(transport.narrowed(path) == narrowed)
  }

  @Test("only a uid is accepted as an owner", arguments: ["x", "-1", "4294967296", ""])
  func invalid(text: String) {
    #expect(throws: (any Error).self) { try Status.parse(["--owner", text]) }
  }
}

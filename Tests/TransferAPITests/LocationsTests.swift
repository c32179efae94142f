import Testing
import TransferAPI

@Suite struct LocationsTests {
  private func locations(
    _ environment: [String: String], socket: String? = nil, state: String? = nil, home: String? = "/home/pw",
    runtimeExists: Bool = false
  ) throws -> Locations {
    try Locations(
      socket: socket, stateDirectory: state, environment: environment, uid: 1000, home: home,
      directoryExists: { _ in runtimeExists })
  }

  @Test("an option overrides the environment, which overrides XDG, which overrides HOME")
  func state() throws {
    let all = ["TRANSFERD_STATE_DIR": "/t", "XDG_STATE_HOME": "/x", "HOME": "/h"]
    #expect(try locations(all, state: "/flag").stateDirectory == "/flag")
    #expect(try locations(all).stateDirectory == "/t")
    #expect(try locations(["XDG_STATE_HOME": "/x", "HOME": "/h"]).stateDirectory == "/x/transferd")
    #expect(try locations(["HOME": "/h"]).stateDirectory == "/h/.local/state/transferd")
    #expect(try locations([:]).stateDirectory == "/home/pw/.local/state/transferd")
    #expect(throws: WireError.self) { try locations([:], home: nil) }
    // Relative values are ignored, as the XDG specification requires.
    #expect(try locations(["XDG_STATE_HOME": "x", "HOME": "/h"]).stateDirectory == "/h/.local/state/transferd")
    #expect(try locations(["XDG_RUNTIME_DIR": "r", "HOME": "/h"]).socket == "/h/.local/state/transferd/transferd.sock")
  }

  @Test("the socket under cron, where XDG_RUNTIME_DIR is unset")
  func socket() throws {
    #expect(try locations(["XDG_RUNTIME_DIR": "/r"]).socket == "/r/transferd/transferd.sock")
    #expect(try locations([:], runtimeExists: true).socket == "/run/user/1000/transferd/transferd.sock")
    #expect(try locations(["HOME": "/h"]).socket == "/h/.local/state/transferd/transferd.sock")
    #expect(try locations(["TRANSFERD_SOCKET": "/s"]).isSocketExplicit)
    #expect(try locations([:], socket: "/f").socket == "/f")
    #expect(try !locations(["XDG_RUNTIME_DIR": "/r"]).isSocketExplicit)
  }
}

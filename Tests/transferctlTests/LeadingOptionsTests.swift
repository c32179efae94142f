import ArgumentParser
import Testing

@testable import transferctl

@Suite struct LeadingOptionsTests {
  @Test(
    "options of every command may precede the command",
    arguments: [
      ("--socket /s status", "status --socket /s"), ("--socket=/s status 1", "status 1 --socket=/s"),
      ("--no-autostart --socket /s daemon stop", "daemon stop --no-autostart --socket /s"),
      ("--socket /s add -- -x", "add --socket /s -- -x"),
      ("status --socket /s", "status --socket /s"), ("add --help", "add --help"), ("", ""),
      // Without a command the parser reports the error.
      ("--socket /s", "--socket /s"), ("--socket", "--socket"),
      ("--no-autostart --version", "--no-autostart --version"),
      ("--sockets /s status", "--sockets /s status"),
    ])
  func moved(_ given: String, _ expected: String) {
    #expect(LeadingOptions.moved(given.split(separator: " ").map(String.init)).joined(separator: " ") == expected)
  }

  @Test("the parser accepts them")
  func parsed() throws {
    let words = LeadingOptions.moved(["--socket", "/s", "status", "--format", "json"])
    let status = try #require(try Transferctl.parseAsRoot(words) as? Status)
    #expect(status.daemon.socket == "/s")
  }
}

import Testing

@testable import TransferEngine

@Suite struct HostAddressTests {
  @Test(
    "an entry has a host, a port and an address",
    arguments: [
      ("host.example:443:192.0.2.7", "host.example:443:192.0.2.7:443"),
      ("Host.Example:80:2001:db8::7", "host.example:80:[2001:db8::7]:80"),
      ("h:1:[2001:db8::7]", "h:1:[2001:db8::7]:1"),
      ("[2001:db8::1]:65535:192.0.2.7", "[2001:db8::1]:65535:192.0.2.7:65535"),
    ])
  func valid(_ text: String, _ entry: String) throws {
    #expect(try HostAddress(text).connectTo == entry)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "h", "h:443", "h:443:", ":443:192.0.2.7", "h:0:192.0.2.7", "h:65536:192.0.2.7", "h:+1:192.0.2.7",
      "h:99999999999999999999:192.0.2.7", "h:443:other.example", "h:443:192.0.2.7:80", "h:443:[::1]x",
      "h:443:fe80::1%eth0",
      "a b:443:192.0.2.7", "u:p@h:443:192.0.2.7", "h/x:443:192.0.2.7", "[::1:443:192.0.2.7", "[::1]443:192.0.2.7",
    ])
  func invalid(_ text: String) {
    #expect(throws: TransferError.self) { try HostAddress(text) }
  }

  @Test("an entry applies to its host and port, whatever the scheme")
  func applies() throws {
    let entry = try HostAddress("host.example:8080:192.0.2.7")
    #expect(entry.applies(to: try RequestURL("http://HOST.example:8080/a")))
    #expect(entry.applies(to: try RequestURL("https://host.example:8080/a")))
    #expect(!entry.applies(to: try RequestURL("http://host.example/a")))
    #expect(!entry.applies(to: try RequestURL("http://www.host.example:8080/a")))
  }
}

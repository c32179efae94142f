import Testing

@testable import TransferEngine

@Suite struct IPAddressTests {
  @Test(
    "IPv4 addresses at the borders of each block have the correct scope",
    arguments: [
      ("0.0.0.0", "loopback"), ("0.255.255.255", "loopback"), ("1.0.0.0", nil), ("9.255.255.255", nil),
      ("10.0.0.0", "private"), ("10.255.255.255", "private"), ("11.0.0.0", nil), ("100.63.255.255", nil),
      ("100.64.0.0", "shared"), ("100.127.255.255", "shared"), ("100.128.0.0", nil), ("126.255.255.255", nil),
      ("127.0.0.1", "loopback"), ("127.255.255.255", "loopback"), ("128.0.0.0", nil), ("169.253.255.255", nil),
      ("169.254.169.254", "link-local"), ("169.255.0.0", nil), ("172.15.255.255", nil), ("172.16.0.0", "private"),
      ("172.31.255.255", "private"), ("172.32.0.0", nil), ("192.0.0.8", "reserved"), ("192.0.1.0", nil),
      ("192.0.2.1", "reserved"), ("192.88.99.1", "reserved"), ("192.167.255.255", nil), ("192.168.0.0", "private"),
      ("192.168.255.255", "private"), ("192.169.0.0", nil), ("198.17.255.255", nil), ("198.18.0.0", "reserved"),
      ("198.19.255.255", "reserved"), ("198.20.0.0", nil), ("198.51.100.7", "reserved"), ("203.0.113.7", "reserved"),
      ("223.255.255.255", nil), ("224.0.0.1", "multicast"), ("239.255.255.255", "multicast"),
      ("240.0.0.0", "reserved"), ("255.255.255.255", "reserved"), ("8.8.8.8", nil),
    ] as [(String, String?)])
  func v4(_ text: String, _ scope: String?) throws {
    let address = try #require(IPAddress(text))
    #expect(address.scope?.rawValue == scope)
    #expect(address.description == text)
  }

  @Test(
    "IPv6 addresses have the correct scope, also if they contain an IPv4 address",
    arguments: [
      ("::", "loopback"), ("::1", "loopback"), ("::2", "loopback"), ("::7f00:1", "loopback"), ("::808:808", "reserved"),
      ("::ffff:127.0.0.1", "loopback"), ("::ffff:10.1.2.3", "private"), ("::ffff:8.8.8.8", nil),
      ("::ffff:0:127.0.0.1", "reserved"), ("64:ff9b::127.0.0.1", "loopback"), ("64:ff9b::c0a8:101", "private"),
      ("64:ff9b::8.8.8.8", nil), ("64:ff9b::1:0:0", "reserved"), ("64:ff9b:1::1", "private"),
      ("2002:7f00:1::1", "loopback"), ("2002:a00:1::", "private"), ("2002:a9fe:a9fe::", "link-local"),
      ("2002:808:808::1", nil), ("2001::1", "reserved"), ("2001:1ff::1", "reserved"), ("2001:200::1", nil),
      ("2001:db8::1", "reserved"), ("2001:db9::1", nil), ("2001:4860:4860::8888", nil), ("1fff::1", "reserved"),
      ("2000::1", nil), ("3ffe::1", nil), ("3fff::1", "reserved"), ("3fff:fff::1", "reserved"), ("3fff:1000::1", nil),
      ("4000::1", "reserved"), ("100::1", "reserved"), ("5f00::1", "reserved"), ("fbff::1", "reserved"),
      ("fc00::1", "private"), ("fdff::1", "private"), ("fe80::1", "link-local"), ("febf::1", "link-local"),
      ("fec0::1", "private"), ("feff::1", "private"), ("fe7f::1", "reserved"), ("ff02::1", "multicast"),
    ] as [(String, String?)])
  func v6(_ text: String, _ scope: String?) throws {
    let address = try #require(IPAddress(text))
    #expect(address.scope?.rawValue == scope)
    #expect(IPAddress(address.description) == address)
  }

  @Test(
    "text that is not an address is refused",
    arguments: ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "1.2.3.4.5", "[127.0.0.1", "::g", "1.2.3.256"])
  func none(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test("addresses with brackets and zones are parsed")
  func forms() {
    #expect(IPAddress("[::1]") == .v6(0, 1))
    #expect(IPAddress("fe80::1%eth0")?.scope == .linkLocal)
    #expect(IPAddress("[fe80::1%25eth0]")?.scope == .linkLocal)
  }

  @Test(
    "a host that is not public is recognised in every spelling of its address",
    arguments: [
      ("http://127.0.0.1/", true), ("http://127.1/", true), ("http://0x7f.0.0.1/", true), ("http://2130706433/", true),
      ("http://0177.0.0.1/", true), ("http://0/", true), ("http://[::1]/", true), ("http://[::ffff:10.0.0.1]/", true),
      ("http://localhost/", true), ("http://LOCALHOST./", true), ("http://a.localhost/", true),
      ("http://169.254.169.254/latest/meta-data", true), ("ftp://192.168.0.1/a", true), ("sftp://10.0.0.1/a", true),
      ("http://8.8.8.8/", false), ("http://example.org/", false), ("http://notlocalhost/", false),
      ("http://[2001:4860:4860::8888]/", false),
    ])
  func hosts(_ url: String, _ isRefused: Bool) throws {
    #expect((try RequestURL(url).nonPublicHost != nil) == isRefused)
  }
}

import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct NetworkOptionsTests {
  /// Why the options in JSON are refused; `nil`: they are accepted.
  private func refusal(_ json: String, scheme: String? = nil) -> String? {
    do {
      let options = try WireCoding.decoder().decode(JobOptions.self, from: Data(json.utf8))
      try options.check(scheme: scheme)
      return nil
    } catch { return WireCoding.explain(error) }
  }

  @Test(
    "valid options are accepted",
    arguments: [
      #"{"proxy":"none"}"#, #"{"proxy":"http://proxy.example:3128"}"#, #"{"proxy":"https://user:pass@proxy.example/"}"#,
      #"{"proxy":"socks5://[::1]:1080"}"#, #"{"proxy":"SOCKS5H://h","proxyCredentials":"env:PROXY"}"#,
      #"{"ca":"/etc/ca.pem","cert":"/etc/c.pem","certKey":"/etc/k.pem","cookies":"/c.txt"}"#,
      #"{"insecure":true,"cert":"/c.pem"}"#, #"{"ipVersion":4}"#, #"{"ipVersion":6}"#, #"{"httpVersion":"1.1"}"#,
      #"{"resolve":["h:443:192.0.2.1"]}"#, #"{"retryStatus":[400,404,599]}"#,
      #"{"interface":"eth0"}"#, #"{"interface":"wg-home.100"}"#,
    ])
  func accepted(_ json: String) {
    #expect(refusal(json, scheme: "https") == nil)
  }

  @Test(
    "wrong options are refused with the reason",
    arguments: [
      (#"{"proxy":""}"#, "is empty"), (#"{"proxy":"proxy.example:3128"}"#, "has no scheme"),
      (#"{"proxy":"ftp://h"}"#, "not ftp"), (#"{"proxy":"http://h/path"}"#, "has a path"),
      (#"{"proxy":"http://h?x"}"#, "has a path or a query"), (#"{"proxy":"http://h:99999"}"#, "port"),
      (#"{"proxy":"None"}"#, "none for a direct connection"),
      (#"{"proxyCredentials":"env:A"}"#, "name it with proxy"),
      (#"{"proxy":"none","proxyCredentials":"env:A"}"#, "name it with proxy"),
      (#"{"proxy":"http://u:p@h","proxyCredentials":"env:A"}"#, "give one of them"),
      (#"{"ca":"ca.pem"}"#, "ca must be the absolute path"), (#"{"cookies":""}"#, "cookies must be the absolute path"),
      (#"{"certKey":"/k.pem"}"#, "which is missing"), (#"{"insecure":true,"ca":"/ca.pem"}"#, "give one of them"),
      (#"{"interface":""}"#, "name of a network interface"), (#"{"interface":"a/b"}"#, "name of a network interface"),
      (#"{"interface":"0123456789abcdef"}"#, "at most 15"), (#"{"interface":".."}"#, "name of a network interface"),
      (#"{"ipVersion":5}"#, "4 or 6"), (#"{"httpVersion":"2"}"#, #""1.1""#), (#"{"retryStatus":[200]}"#, "from 400"),
      (#"{"retryStatus":[600]}"#, "to 599"), (#"{"cookies":"/c","headers":{"cookie":"a=b"}}"#, "given twice"),
      (#"{"cookies":"/c","secretHeaders":{"Cookie":"env:A"}}"#, "given twice"),
    ])
  func refused(_ json: String, _ reason: String) {
    let refusal = refusal(json)
    #expect(refusal?.contains(reason) == true, "\(refusal ?? "accepted")")
    #expect(refusal?.contains("u:p") != true)
  }

  @Test(
    "options that mean nothing for a protocol are refused",
    arguments: [
      (#"{"insecure":true}"#, "sftp"), (#"{"ca":"/a"}"#, "scp"), (#"{"cert":"/a"}"#, "sftp"),
      (#"{"cookies":"/a"}"#, "s3"), (#"{"cookies":"/a"}"#, "ftp"), (#"{"httpVersion":"1.1"}"#, "ftps"),
      (#"{"retryStatus":[404]}"#, "ftp"), (#"{"headers":{"X-A":"b"}}"#, "ftp"), (#"{"headers":{"X-A":"b"}}"#, "scp"),
      (#"{"secretHeaders":{"X-A":"env:A"}}"#, "sftp"), (#"{"remoteTime":true}"#, "scp"),
    ])
  func scheme(_ json: String, _ scheme: String) {
    #expect(refusal(json, scheme: scheme)?.contains(scheme) == true)
    #expect(refusal(json, scheme: "https") == nil && refusal(json, scheme: nil) == nil)
  }

  @Test("lists have at most 100 entries")
  func entries() {
    let addresses = (1...101).map { "\"h:\($0):192.0.2.1\"" }.joined(separator: ",")
    #expect(refusal(#"{"resolve":[\#(addresses)]}"#) == "resolve has more than 100 entries")
    let statuses = (400...500).map(String.init).joined(separator: ",")
    #expect(refusal(#"{"retryStatus":[\#(statuses)]}"#)?.contains("retryStatus") == true)
  }

  @Test(
    "a Referer is an http or https URL without user name and fragment",
    arguments: [
      ("http://h/", nil), ("HTTPS://h?a@b", nil), ("http://h/a@b", nil), ("ftp://h/", "must be an http or https URL"),
      ("h/x", "must be an http or https URL"), ("http://", "must be an http or https URL"),
      ("http:///x", "must be an http or https URL"), ("http://u:p@h/", "a user name"), ("http://h/#f", "a fragment"),
      ("http://u:p@\u{301}h/", "a user name"), ("http://h/#\u{301}f", "a fragment"),
    ] as [(String, String?)])
  func referer(_ url: String, _ reason: String?) {
    var options = JobOptions()
    options.referer = url
    var found: String?
    do throws(WireError) { try options.check(scheme: "https") } catch { found = error.description }
    if let reason { #expect(found?.contains(reason) == true) } else { #expect(found == nil) }
  }
}

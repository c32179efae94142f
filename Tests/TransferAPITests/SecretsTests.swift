import Testing
import TransferAPI

@Suite struct SecretsTests {
  @Test(
    "a URL is shown without its secrets",
    arguments: [
      ("https://h/x", "https://h/x"), ("https://u:p@h/x", "https://h/x"), ("https://u:p@ss@h/x", "https://h/x"),
      ("https://h/x?a=1&token=s3cret&b=2", "https://h/x?a=1&token=***&b=2"),
      ("https://h/x?X-Amz-Signature=abc#f", "https://h/x?X-Amz-Signature=***#f"),
      ("https://h/x@y?z", "https://h/x@y?z"), ("/plain/path", "/plain/path"),
      ("https://h?password=x", "https://h?password=***"),
    ])
  func url(_ text: String, _ shown: String) {
    #expect(Secrets.redacting(url: text) == shown)
  }

  @Test(
    "a URL without its secrets is recognised, any other URL is not",
    arguments: [
      ("https://h/x?a=1&token=s3cret&b=2", true), ("https://h/x?X-Amz-Signature=abc#f", true),
      ("https://h/x?a=1", false), ("https://h/x?a=***", false), ("https://h/x?a=token=***", false),
      ("https://h/x", false), ("https://h/?#token=***", false), ("/a?token=***", false), ("https://h/x?token=", true),
    ])
  func redacted(_ url: String, _ hasSecrets: Bool) {
    #expect(Secrets.isRedacted(url: Secrets.redacting(url: url)) == hasSecrets)
    #expect(!Secrets.isRedacted(url: url) || url.hasSuffix("***"))
  }

  @Test(
    "headers with secrets are recognised by their names",
    arguments: ["Authorization", "cookie", "X-API-Key", "X-Custom-Token", "My-Secret"])
  func header(_ name: String) {
    #expect(Secrets.isSecret(headerName: name))
  }

  @Test("ordinary headers are shown", arguments: ["Accept", "User-Agent", "X-Request-Id", "Referer"])
  func ordinary(_ name: String) {
    #expect(!Secrets.isSecret(headerName: name))
  }
}

import Testing
import WireValues

@Suite struct SecretNamesTests {
  @Test(
    "secret parameters are recognised in every spelling",
    arguments: [
      "token", "access_token", "%74oken", "%54%4F%4B%45%4E", "%2574oken", "key", "KEY", "k%65y", "sid", "jwt", "hmac",
      "sig",
      "Signature", "X-Amz-Signature", "X-Amz-Credential", "X-Goog-Signature", "AWSAccessKeyId", "Key-Pair-Id", "policy",
      "code", "pwd", "pass", "api_key", "api-key", "apikey", "auth", "oauth_token", "authorization", "client_secret",
      "session-id", "PHPSESSION", "passphrase", "x-amz-security-token", "SAMLResponse", "csrf",
    ])
  func secretParameter(_ name: String) {
    #expect(SecretNames.isSecret(parameter: name))
  }

  @Test(
    "other parameters are not secret",
    arguments: [
      "", "a", "author", "keyword", "monkey", "code_page", "passage", "page", "size", "%", "%zz", "%7", "expires",
    ])
  func ordinaryParameter(_ name: String) {
    #expect(!SecretNames.isSecret(parameter: name))
  }

  @Test(
    "secret header fields are recognised",
    arguments: [
      "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Ocp-Apim-Subscription-Key",
      "X-Auth-Token", "X-Vault-Token", "PRIVATE-TOKEN", "Job-Token", "Deploy-Token", "X-Amz-Security-Token",
      "X-Session", "X-Credential", "X-Goog-Signature",
    ])
  func secretField(_ name: String) {
    #expect(SecretNames.isSecret(field: name))
  }

  @Test(
    "other header fields are not secret",
    arguments: [
      "Accept", "User-Agent", "WWW-Authenticate", "Proxy-Authenticate", "Idempotency-Key", "Author", "Referer",
    ])
  func ordinaryField(_ name: String) {
    #expect(!SecretNames.isSecret(field: name))
  }

  @Test(
    "pairs",
    arguments: [
      ("", ""), ("a=1&token=x&b=2", "a=1&token=***&b=2"), ("a=1;sid=x;b", "a=1;sid=***;b"),
      ("%74oken=a=b", "%74oken=***"),
      ("key=&&=", "key=***&&="), ("token", "token"),
    ])
  func pairs(_ text: String, _ shown: String) {
    #expect(SecretNames.redacted(pairs: text) == shown)
  }
}

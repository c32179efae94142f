import Digests
import FoundationEssentials
import TransferAPI
import TransferEngine

/// A configured webhook.
struct Webhook: Equatable, Sendable {
  /// An http or https URL, which may hold a secret.
  var url: String
  /// Where the key of the signature is looked up at each attempt; `nil`: nothing is signed.
  var secret: SecretReference?
  var events: Set<DeliveryEvent>

  /// The name of the target in the database, which must not hold the URL.
  var target: String { "webhook " + HashFunction.sha256.digest(of: Array(url.utf8)).prefix(16).hex }

  /// Its server, for people: a path may hold a secret, too.
  var shown: String { (try? RequestURL(url))?.origin ?? "an unknown URL" }

  /// The value of `webhook-signature` (Standard Webhooks): HMAC-SHA256 of id, timestamp and body, in base64.
  /// - Parameter secret: the bytes of a text, or `whsec_` and base64.
  static func signature(id: String, timestamp: String, body: String, secret: String) -> String {
    let code = HMAC.authenticationCode(
      for: Array("\(id).\(timestamp).\(body)".utf8), key: key(secret), using: .sha256)
    return "v1," + Data(code).base64EncodedString()
  }

  private static func key(_ secret: String) -> [UInt8] {
    let prefix = "whsec_"
    guard secret.hasPrefix(prefix), let key = Data(base64Encoded: String(secret.dropFirst(prefix.count))) else {
      return Array(secret.utf8)
    }
    return [UInt8](key)
  }

  /// When deliveries are given up, in seconds since the event.
  static let maximumAge: TimeInterval = 86_400
  /// The longest wait between two attempts, in seconds.
  static let maximumDelay = 21_600.0

  /// Seconds until the next attempt: 1, 3, 9, 27, … up to six hours.
  /// - Parameter attempts: failed attempts, 1 or more.
  static func delay(afterAttempt attempts: Int) -> TimeInterval {
    Backoff.seconds(afterFailure: attempts, factor: 3, atMost: maximumDelay)
  }
}

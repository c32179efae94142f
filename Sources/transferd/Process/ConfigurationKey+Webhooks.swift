import TransferAPI
import TransferEngine

/// Webhooks.
extension ConfigurationKey {
  /// Most webhooks that may be configured.
  private static let maximumWebhooks = 20

  static let webhookKeys: [ConfigurationKey] = [
    ConfigurationKey(
      name: "webhooks", allowed: "a list of at most \(maximumWebhooks) {url, secret, events}", isList: true,
      isPrivate: true
    ) { value, configuration throws(DaemonConfiguration.Invalid) in
      guard case .mappings(let mappings) = value, mappings.count <= maximumWebhooks else {
        guard value == .list([]) || value == .nothing else { return false }
        configuration.limits.hooks.webhooks = []
        return true
      }
      var hooks: [Webhook] = []
      for (index, fields) in mappings.enumerated() {
        let reader = FieldReader("webhooks", index, fields)
        let hook = try webhook(reader)
        guard !hooks.contains(where: { $0.url == hook.url }) else {
          throw reader.fault("the url is that of an earlier entry; name all its events there")
        }
        hooks.append(hook)
      }
      configuration.limits.hooks.webhooks = hooks
      return true
    }
  ]

  private static func webhook(_ fields: FieldReader) throws(DaemonConfiguration.Invalid) -> Webhook {
    try fields.refuse(besides: ["url", "secret", "events"])
    let url = try fields.value("url", "an http or https URL", isPrivate: true) { text -> String? in
      guard let url = try? RequestURL(text), url.isHTTP else { return nil }
      return text
    }
    guard let url else { throw fields.fault("url is missing") }
    let secret = try fields.value("secret", "env:NAME, file:PATH or exec:COMMAND", isPrivate: true) {
      text -> SecretReference? in
      guard let reference = try? SecretReference(parsing: text), reference != .netrc else { return nil }
      return reference
    }
    let words = DeliveryEvent.allCases.map(\.rawValue).joined(separator: ", ")
    let events = try fields.words("events", "a list of \(words)") { text -> Set<DeliveryEvent>? in
      let events = text.split(separator: ",", omittingEmptySubsequences: false).map { word in
        DeliveryEvent(rawValue: String(word.drop { $0 == " " }))
      }
      let known = events.compactMap { $0 }
      return known.count == events.count ? Set(known) : nil
    }
    return Webhook(url: url, secret: secret, events: events ?? Set(DeliveryEvent.allCases))
  }
}

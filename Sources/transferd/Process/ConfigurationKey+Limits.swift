import TransferAPI
import TransferEngine

/// Limits of speed and rules for origins.
extension ConfigurationKey {
  static let limitKeys: [ConfigurationKey] = [
    rate("limitDown") { $0.rates.down = $1 },
    rate("limitUp") { $0.rates.up = $1 },
    ConfigurationKey(
      name: "origins",
      allowed: "a list of {match, maxActive, interval, limitRate, segments, proxy}", isList: true, isPrivate: true
    ) { value, configuration throws(DaemonConfiguration.Invalid) in
      guard case .mappings(let mappings) = value else {
        guard value == .list([]) || value == .nothing else { return false }
        configuration.origins = .none
        return true
      }
      var rules: [OriginRule] = []
      for (index, fields) in mappings.enumerated() {
        rules.append(try rule(FieldReader("origins", index, fields)))
      }
      configuration.origins = OriginRules(rules: rules)
      return true
    },
  ]

  private static func rate(
    _ name: String, _ change: @escaping @Sendable (inout DaemonConfiguration, RateSetting) -> Void
  ) -> ConfigurationKey {
    let allowed = "a rate like 500K or 2M, off, or a list of {days, from, to, rate}"
    return ConfigurationKey(name: name, allowed: allowed) { value, configuration throws(DaemonConfiguration.Invalid) in
      switch value {
      case .scalar("off"): change(&configuration, .fixed(nil))
      case .scalar(let text):
        guard let rate = ByteRate(text) else { return false }
        change(&configuration, .fixed(rate.bytesPerSecond))
      case .mappings(let mappings):
        var entries: [RateTimetable.Entry] = []
        for (index, fields) in mappings.enumerated() {
          entries.append(try entry(FieldReader(name, index, fields)))
        }
        change(&configuration, .timetable(RateTimetable(entries: entries)))
      case .list([]): change(&configuration, .fixed(nil))
      case .list, .nothing: return false
      }
      return true
    }
  }

  private static func entry(_ fields: FieldReader) throws(DaemonConfiguration.Invalid) -> RateTimetable.Entry {
    try fields.refuse(besides: ["days", "from", "to", "rate"])
    let days = try fields.words("days", "days like mon-fri or [sat, sun]") { RateTimetable.days($0) }
    let minutes = "a time from 00:00 to 24:00"
    let from = try fields.value("from", minutes) { ClockTime.minute($0) } ?? 0
    let to = try fields.value("to", minutes) { ClockTime.minute($0) } ?? 24 * 60
    guard from != to, from < 24 * 60 else { throw fields.fault("from and to must be different times of a day") }
    guard
      let rate = try fields.value(
        "rate", "a rate like 500K or 2M, or off",
        { text -> Int64?? in text == "off" ? .some(nil) : ByteRate(text).map { .some($0.bytesPerSecond) } })
    else { throw fields.fault("rate is missing") }
    return RateTimetable.Entry(days: days ?? Set(0..<7), from: from, to: to, rate: rate)
  }

  private static func rule(_ fields: FieldReader) throws(DaemonConfiguration.Invalid) -> OriginRule {
    try fields.refuse(besides: ["match", "maxActive", "interval", "limitRate", "segments", "proxy"])
    let pattern = try fields.value("match", "a host like example.org, *.example.org or https://example.org:8443") {
      OriginPattern($0)
    }
    guard let pattern else { throw fields.fault("match is missing") }
    var rule = OriginRule(match: pattern)
    let range = Admission.range
    rule.maxActive = try fields.value("maxActive", "a whole number from \(range.lowerBound) to \(range.upperBound)") {
      Int($0).flatMap { range.contains($0) ? $0 : nil }
    }
    rule.interval = try fields.value("interval", "a time above 0, at most 366d, like 500ms or 2s") {
      TimeSpan($0)?.duration
    }
    rule.limitRate = try fields.value("limitRate", "a rate like 500K or 2M") { ByteRate($0)?.bytesPerSecond }
    rule.segments = try fields.value("segments", "auto or a whole number from 1 to 32") {
      try? SegmentCount(parsing: $0)
    }
    // A password in the URL must not be shown.
    rule.proxy = try fields.value("proxy", "none or a URL: http, https, socks5 or socks5h://HOST:PORT", isPrivate: true)
    {
      text in
      if text == "none" { return .direct }
      guard text.contains("://"), let server = try? ProxyServer(text) else { return nil }
      return ProxyChoice(ProxyConfiguration(server))
    }
    return rule
  }
}

/// The fields of one mapping in a list of the configuration.
struct FieldReader {
  private let key: String
  private let index: Int
  private let fields: [ConfigurationFile.Field]

  init(_ key: String, _ index: Int, _ fields: [ConfigurationFile.Field]) {
    self.key = key
    self.index = index
    self.fields = fields
  }

  func fault(_ words: String) -> DaemonConfiguration.Invalid {
    .init(description: "entry \(index + 1) of \(key): \(words)")  // checked: an index
  }

  func refuse(besides known: [String]) throws(DaemonConfiguration.Invalid) {
    for field in fields where !known.contains(field.name) {
      throw fault("unknown key \"\(field.name)\"; the keys are \(known.joined(separator: ", "))")
    }
  }

  /// `nil` if the field is missing.
  func value<Value>(
    _ name: String, _ allowed: String, isPrivate: Bool = false, _ parse: (String) -> Value?
  ) throws(DaemonConfiguration.Invalid) -> Value? {
    guard let field = fields.last(where: { $0.name == name }) else { return nil }
    guard case .scalar(let text) = field.value else { throw fault("\(name) must be \(allowed)") }
    guard let value = parse(text) else {
      throw fault(isPrivate ? "\(name) must be \(allowed)" : "\(name) is \"\(text)\"; it must be \(allowed)")
    }
    return value
  }

  /// A scalar or a list of them, as one text with commas.
  func words<Value>(
    _ name: String, _ allowed: String, _ parse: (String) -> Value?
  ) throws(DaemonConfiguration.Invalid) -> Value? {
    guard let field = fields.last(where: { $0.name == name }) else { return nil }
    let text: String
    switch field.value {
    case .scalar(let word): text = word
    case .list(let words): text = words.joined(separator: ",")
    case .mappings, .nothing: throw fault("\(name) must be \(allowed)")
    }
    guard let value = parse(text) else { throw fault("\(name) is \"\(text)\"; it must be \(allowed)") }
    return value
  }
}

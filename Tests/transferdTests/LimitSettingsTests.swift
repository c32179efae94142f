import Foundation
import TestSupport
import Testing
import TransferAPI

@testable import transferd

@Suite struct LimitSettingsTests {
  private static let noon = Date(timeIntervalSince1970: 1_781_085_600)  // 2026-06-10T10:00:00Z, a Wednesday

  private func load(_ text: String) throws -> DaemonConfiguration {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let path = try directory.file("transferd.yaml", text: "transferd:\n" + text)
    return try DaemonConfiguration.load(.init(configurationFile: path), environment: [:])
  }

  @Test("the configuration, a timetable, and what limit sets above them")
  func inForce() throws {
    let settings = try load(
      """
        maxActive: 7
        limitUp: 1M
        limitDown:
          - {days: mon-fri, from: "08:00", to: "18:00", rate: 2M}
          - {days: [sat, sun], rate: off}
      """
    ).limitSettings
    var overrides = LimitSettings.Overrides()
    var limits = settings.inForce(overrides, at: Self.noon, RateTimetableTests.berlin)
    #expect(limits.down == 2 << 20 && limits.from.down == .timetable)
    #expect(limits.downUntil == Self.noon + 6 * 3600)
    #expect(limits.up == 1 << 20 && limits.from.up == .configuration && limits.upUntil == nil)
    #expect(limits.maxActive == 7 && limits.from.maxActive == .configuration)
    #expect(limits.maxPerOrigin == nil && limits.from.maxPerOrigin == .default)
    #expect(settings.hasTimetable(overrides))
    limits = settings.inForce(overrides, at: Self.noon + 7 * 3600, RateTimetableTests.berlin)
    #expect(limits.down == nil && limits.from.down == .timetable)

    var change = DaemonLimitChange()
    (change.down, change.up, change.maxActive, change.maxPerOrigin) = (.some(5), .some(nil), 3, .some(2))
    overrides.apply(change)
    limits = settings.inForce(overrides, at: Self.noon, RateTimetableTests.berlin)
    #expect(limits.down == 5 && limits.up == nil && limits.maxActive == 3 && limits.maxPerOrigin == 2)
    #expect(limits.from == .init(down: .limit, up: .limit, maxActive: .limit, maxPerOrigin: .limit))
    #expect(!settings.hasTimetable(overrides))
    #expect(settings.limits(overrides).queue.admission.maxPerOrigin == .fixed(2))
    // What is stored is read again.
    #expect(LimitSettings.Overrides(stored: overrides.stored) == overrides)

    change = DaemonLimitChange()
    (change.reset, change.up) = (true, .some(9))
    overrides.apply(change)
    limits = settings.inForce(overrides, at: Self.noon, RateTimetableTests.berlin)
    #expect(limits.down == 2 << 20 && limits.up == 9 && limits.maxActive == 7)
  }

  @Test("stored values that cannot be read are ignored")
  func stored() {
    let found: [String: String?] = [
      "down": "x", "up": "-1", "maxActive": "0", "maxPerOrigin": nil, "colour": "red",
    ]
    let kept: [String: String?] = ["maxPerOrigin": nil]
    #expect(LimitSettings.Overrides(stored: found).stored == kept)
  }

  @Test("rules for origins are read")
  func origins() throws {
    let rules = try load(
      """
        origins:
          - {match: "*.example.org", maxActive: 2, interval: 500ms, limitRate: 1M, segments: auto, proxy: none}
          - {match: "https://mirror.example:8443", segments: 4, proxy: "http://proxy:3128"}
          - match: "*"
            maxActive: 20
      """
    ).origins
    let first = try #require(rules.rule(for: "https://a.example.org:443"))
    #expect(first.maxActive == 2 && first.interval == .milliseconds(500) && first.limitRate == 1 << 20)
    #expect(first.segments == .automatic && first.proxy == .direct)
    let second = try #require(rules.rule(for: "https://mirror.example:8443"))
    #expect(second.segments == .fixed(4) && second.proxy?.configuration.https != nil && second.maxActive == nil)
    #expect(rules.rule(for: "http://mirror.example:8443")?.maxActive == 20)
  }

  @Test(
    "wrong values are named with their place",
    arguments: [
      ("limitDown: fast", "limitDown"), ("limitDown: [1M, 2M]", "limitDown"), ("limitUp: 0", "limitUp"),
      ("limitDown:\n    - {rate: 1M, colour: red}", "entry 1 of limitDown: unknown key \"colour\""),
      ("limitDown:\n    - {rate: 1M}\n    - {from: \"08:00\", to: \"18:00\"}", "entry 2 of limitDown: rate is missing"),
      ("limitDown:\n    - {rate: 1M, from: \"08:00\", to: \"08:00\"}", "from and to must be different"),
      ("limitDown:\n    - {rate: 1M, from: \"25:00\"}", "from is \"25:00\""),
      ("limitDown:\n    - {rate: 1M, days: monday}", "days is \"monday\""),
      ("origins: 7", "origins"), ("origins:\n    - {maxActive: 1}", "match is missing"),
      ("origins:\n    - {match: \"a b\"}", "match is"),
      ("origins:\n    - {match: a, maxActive: 0}", "maxActive is \"0\""),
      ("origins:\n    - {match: a, segments: 33}", "segments is \"33\""),
      ("origins:\n    - {match: a, interval: soon}", "interval is \"soon\""),
      ("origins:\n    - {match: a, limitRate: off}", "limitRate is \"off\""),
      ("origins:\n    - {match: a, colour: red}", "unknown key \"colour\""),
    ])
  func wrong(_ text: String, _ words: String) throws {
    let error = #expect(throws: DaemonConfiguration.Invalid.self) { try load("  " + text + "\n") }
    #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    #expect(error?.description.contains("line") == true, "\(String(describing: error))")
  }

  @Test("the password of an origin's proxy is in no message")
  func secret() throws {
    let error = #expect(throws: DaemonConfiguration.Invalid.self) {
      try load("  origins:\n    - {match: a, proxy: \"ftp://user:geheim@h\"}\n")
    }
    #expect(error?.description.contains("geheim") == false, "\(String(describing: error))")
  }
}

@Suite struct OriginPatternTests {
  @Test(
    "patterns and origins",
    arguments: [
      ("example.org", "https://example.org:443", true), ("example.org", "http://example.org:80", true),
      ("example.org", "https://a.example.org:443", false), ("*.example.org", "https://a.example.org:443", true),
      ("*.example.org", "https://a.b.example.org:443", true), ("*.example.org", "https://example.org:443", false),
      ("*.example.org", "https://badexample.org:443", false), ("*", "ftp://x:21", true),
      ("EXAMPLE.org", "https://example.ORG:443", true), ("example.org:8443", "https://example.org:8443", true),
      ("example.org:8443", "https://example.org:443", false), ("https://example.org", "http://example.org:80", false),
      ("https://example.org", "https://example.org:443", true), ("[::1]", "http://[::1]:8080", true),
      ("[::1]:8080", "http://[::1]:8080", true), ("[::1]:80", "http://[::1]:8080", false),
      ("ftp://*", "ftp://x:21", true), ("ftp://*", "http://x:80", false), ("*", "file://", true),
    ])
  func matches(_ pattern: String, _ origin: String, _ expected: Bool) throws {
    #expect(try #require(OriginPattern(pattern)).matches(origin) == expected)
  }

  @Test(
    "what is no pattern",
    arguments: ["", "*.", "a*b", "*.*.org", "a/b", "http://", "user@host", "host:0", "host:x", "a b", "::1", "*.*"])
  func refused(_ text: String) { #expect(OriginPattern(text) == nil) }
}

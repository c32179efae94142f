import Foundation
import Logging
import TestSupport
import Testing
import TransferEngine

@testable import transferd

@Suite struct DaemonConfigurationTests {
  private func load(
    _ text: String, environment: [String: String] = [:], flags: DaemonConfiguration.Flags = .init()
  ) throws -> DaemonConfiguration {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    var flags = flags
    flags.configurationFile = try directory.file("transferd.yaml", text: text)
    return try DaemonConfiguration.load(flags, environment: environment)
  }

  @Test("the sample file sets the defaults")
  func sample() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: "packaging/transferd.yaml"), encoding: .utf8)
    var loaded = try load(text)
    loaded.given = []
    #expect(loaded == DaemonConfiguration())
    // The sample mentions each key, at least in a comment.
    for key in ConfigurationKey.all {
      #expect(text.contains("\(key.name.split(separator: ".").last ?? ""):"), "\(key.name)")
    }
  }

  @Test("every key takes effect")
  func keys() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let authorities = try directory.file("ca.pem", text: "")
    var loaded = try load(
      """
      transferd:
        maxActive: 3
        maxPerOrigin: "2"
        maxAttempts: 5
        connectTimeout: 2m
        stallTimeout: 500ms
        historyDays: 0
        logLevel: debug
        certificateAuthorityFile: \(authorities)
        socketGroup: root
        redirects: same-origin
        proxy: socks5h://proxy.example:1080
        proxyCredentials: env:PROXY_LOGIN
        noProxy: [localhost, .example.org]
        memberReadRoots: [/srv/in, "/srv/out box"]
        memberWriteRoots:
          - /srv/in
        hooks:
          onComplete: [/bin/echo, "a b"]
          onFailure:
            - /bin/false
          timeout: 5s
        minFree: 2G
        quota: 50G/day
        xattr: true
      """)
    var expected = DaemonConfiguration()
    expected.storage = .init(minFree: 2 << 30, notesOrigin: true)
    expected.limits.quota = 50 << 30
    expected.limits.queue.admission = Admission(maxActive: 3, maxPerOrigin: .fixed(2))
    expected.limits.maxAttempts = 5
    expected.limits.timeouts = .init(connect: .seconds(120), stall: .milliseconds(500))
    expected.historyDays = 0
    expected.logLevel = .debug
    expected.certificateAuthorityFile = authorities
    expected.memberRoots = MemberRoots(read: ["/srv/in", "/srv/out box"], write: ["/srv/in"])
    expected.socketGroup = "root"
    expected.network.redirects = .sameOrigin
    let proxy = try ProxyServer("socks5h://proxy.example:1080")
    expected.proxy = ProxySetting(
      source: .server(proxy), exceptions: ["localhost", ".example.org"], credentials: .environment("PROXY_LOGIN"))
    expected.network.proxy = ProxyChoice(
      ProxyConfiguration(proxy, noProxy: ["localhost", ".example.org"]), credentials: .environment("PROXY_LOGIN"))
    expected.limits.hooks.onComplete = Command(arguments: ["/bin/echo", "a b"])
    expected.limits.hooks.onFailure = Command(arguments: ["/bin/false"])
    expected.limits.hooks.timeout = .seconds(5)
    #expect(loaded.given.contains("maxActive") && loaded.given.contains("hooks.timeout"))
    loaded.given = []
    #expect(loaded == expected)
  }

  @Test(
    "a file without settings is valid",
    arguments: ["", "# all\n# comments\n", "transferd:\n", "transferd: {}\n", "transferd:\n  hooks:\n"])
  func nothing(_ text: String) throws {
    #expect(try load(text) == DaemonConfiguration())
  }

  @Test(
    "an error names the line, the key and the allowed values",
    arguments: [
      // Regression: this was once ignored, and the daemon ran with 16.
      ("transferd:\n  maxActve: 3\n", ["line 2", "\"maxActve\"", "maxActive, maxPerOrigin"]),
      ("maxActive: 3\n", ["line 1", "\"maxActive\" at the top", "below transferd:"]),
      ("transferd:\n  maxActive: 3\nhooks:\n  x: 1\n", ["line 3", "\"hooks\" at the top"]),
      ("transferd:\n  maxActive: lots\n", ["line 2", "maxActive is \"lots\"", "from 1 to 10000"]),
      ("transferd:\n\n\n  maxActive: 0\n", ["line 4", "maxActive is \"0\"", "from 1 to 10000"]),
      ("transferd:\n  maxActive: 10001\n", ["from 1 to 10000"]),
      ("transferd:\n  maxActive: 1.5\n", ["\"1.5\"", "a whole number"]),
      ("transferd:\n  maxPerOrigin: many\n", ["maxPerOrigin is \"many\"", "auto or a whole number from 1 to 10000"]),
      ("transferd:\n  maxPerOrigin: 0\n", ["maxPerOrigin is \"0\"", "auto or a whole number"]),
      ("transferd:\n  proxy: proxy.example:3128\n", ["line 2: proxy cannot be used; it must be none, environment"]),
      ("transferd:\n  proxy: ftp://me:s3cret@h\n", ["proxy cannot be used; it must be"]),
      ("transferd:\n  proxyCredentials: hunter2\n", ["proxyCredentials cannot be used; it must be netrc, env:NAME"]),
      ("transferd:\n  noProxy: [\"192.0.2.0/99\"]\n", ["noProxy cannot be used", "192.0.2.0/24"]),
      ("transferd:\n  maxActive: true\n", ["\"true\"", "a whole number"]),
      ("transferd:\n  maxActive:\n", ["maxActive has no value"]),
      ("transferd:\n  maxActive: [1, 2]\n", ["maxActive is a list"]),
      ("transferd:\n  maxActive:\n    of: 3\n", ["line 3", "maxActive must be a whole number"]),
      ("transferd:\n  connectTimeout: fast\n", ["connectTimeout is \"fast\"", "500ms"]),
      ("transferd:\n  stallTimeout: 0\n", ["stallTimeout is \"0\"", "above 0"]),
      ("transferd:\n  historyDays: -1\n", ["historyDays is \"-1\"", "from 0 to"]),
      ("transferd:\n  logLevel: loud\n", ["logLevel is \"loud\"", "trace, debug, info"]),
      (
        "transferd:\n  hooks:\n    onComplet: [/x]\n",
        ["line 3", "\"onComplet\"", "onComplete, onFailure, onBatchEnd, timeout"]
      ),
      ("transferd:\n  hooks:\n    onComplete: /x\n", ["line 3", "hooks.onComplete is \"/x\"", "a list of words"]),
      ("transferd:\n  hooks:\n    onFailure: [x]\n", ["line 3", "absolute path"]),
      ("transferd:\n  hooks: 3\n", ["line 2", "hooks"]),
      ("transferd:\n  certificateAuthorityFile: ca.pem\n", ["absolute path"]),
      ("transferd:\n  certificateAuthorityFile: /none/ca.pem\n", ["/none/ca.pem", "readable file"]),
      ("transferd:\n  maxActive: 3\n  maxActive: 4\n", ["maxActive"]),
      ("transferd: 3\n", ["line 1", "transferd: has no keys"]), ("- a\n", ["line 1", "top-level key transferd:"]),
      ("transferd: [\n", ["not YAML"]), ("a: 1\n---\nb: 2\n", ["not YAML"]),
    ])
  func faults(_ text: String, _ words: [String]) throws {
    let error = #expect(throws: DaemonConfiguration.Invalid.self) { try load(text) }
    let description = try #require(error?.description)
    #expect(description.contains("transferd.yaml") && !description.contains("\n"), "\(description)")
    for word in words { #expect(description.contains(word), "\(description)") }
  }

  @Test(
    "credentials for a proxy that has none, or has them already, are an error",
    arguments: ["", "  proxy: environment\n", "  proxy: http://u:hunter2@h\n"])
  func proxyCredentials(_ proxy: String) {
    let error = #expect(throws: DaemonConfiguration.Invalid.self) {
      try load("transferd:\n  proxyCredentials: env:A\n\(proxy)")
    }
    #expect(error?.description == "proxyCredentials are for a proxy that a URL without a password names")
  }

  @Test("a missing file or a directory is an error that names the path")
  func unreadable() throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    for (path, words) in [(directory.path("none"), "No such file"), (directory.path("."), "not a readable file")] {
      let error = #expect(throws: DaemonConfiguration.Invalid.self) {
        try DaemonConfiguration.load(.init(configurationFile: path), environment: [:])
      }
      #expect(error?.description.contains(path) == true && error?.description.contains(words) == true)
    }
  }

  @Test("the environment overrides the file, and the command line overrides both; overridden values are checked too")
  func precedence() throws {
    let text = "transferd:\n  maxActive: 3\n  maxPerOrigin: 3\n  historyDays: 3\n"
    let environment = [
      "TRANSFERD_MAX_ACTIVE": "4", "TRANSFERD_MAX_PER_ORIGIN": "4", "TRANSFERD_STATE_DIR": "/x",
      "TRANSFERD_LOG_LEVEL": "",
    ]
    let loaded = try load(text, environment: environment, flags: .init(maxActive: 5))
    #expect(loaded.limits.queue.admission == Admission(maxActive: 5, maxPerOrigin: .fixed(4)))
    #expect(
      try load(text, environment: ["TRANSFERD_MAX_PER_ORIGIN": "auto"]).limits.queue.admission
        == Admission(maxActive: 3, maxPerOrigin: .automatic))
    #expect(loaded.historyDays == 3 && loaded.logLevel == .notice)
    for text in ["/bin/echo,done", " /bin/echo , done\t"] {
      let hooks = ["TRANSFERD_HOOKS_ON_COMPLETE": text]
      #expect(
        try load("", environment: hooks).limits.hooks.onComplete == Command(arguments: ["/bin/echo", "done"]))
    }
    #expect(throws: DaemonConfiguration.Invalid.self) {
      try load("transferd:\n  maxActive: none\n", environment: environment, flags: .init(maxActive: 5))
    }
  }

  @Test("an invalid variable is named in the error")
  func variables() throws {
    for key in ConfigurationKey.all where key.name != "socketGroup" {
      let error = #expect(throws: DaemonConfiguration.Invalid.self) {
        try DaemonConfiguration.load(.init(), environment: [key.variable: "?"])
      }
      #expect(error?.description.contains(key.variable) == true, "\(key.name)")
      #expect(error?.description.contains(key.allowed) == true, "\(key.name)")
    }
  }
}

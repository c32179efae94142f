import Foundation
import TestSupport
import Testing
import TransferAPI

@testable import transferd

@Suite struct WebhookTests {
  @Test("signatures are those of Standard Webhooks, with base64 keys and plain ones")
  func signatures() {
    // The example of the Standard Webhooks libraries.
    let signature = Webhook.signature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330", body: #"{"test": 2432232314}"#,
      secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    let plain = Webhook.signature(id: "i", timestamp: "1", body: "{}", secret: "s3cret")
    #expect(plain == "v1,1FfuXHdewZAHI/p8PyGTRVfB5tzQh09VoIVlA20LO+w=")
    // What is no base64 is a text.
    #expect(Webhook.signature(id: "i", timestamp: "1", body: "{}", secret: "whsec_?") != plain)
  }

  @Test("the waits grow to six hours, and their number within a day is small")
  func delays() {
    #expect((1...5).map { Webhook.delay(afterAttempt: $0) } == [1, 3, 9, 27, 81])
    #expect(Webhook.delay(afterAttempt: 0) == 1 && Webhook.delay(afterAttempt: .max) == Webhook.maximumDelay)
    var (time, attempts) = (0.0, 0)
    while time < Webhook.maximumAge {
      attempts += 1
      time += Webhook.delay(afterAttempt: attempts)
    }
    #expect(attempts < 20)
  }

  @Test("the name of a target does not hold the URL and differs from that of other URLs")
  func targets() {
    let one = Webhook(url: "https://h/s3cret", secret: nil, events: [.batchEnd])
    let other = Webhook(url: "https://h/other", secret: nil, events: [.jobFailed, .batchEnd])
    #expect(!one.target.contains("s3cret") && one.target != other.target)
    var hooks = HookConfiguration()
    #expect(hooks.targets == .none && !hooks.wantsFollowUp(after: .fail))
    hooks.webhooks = [one, other]
    #expect(hooks.targets.batchEnd == [one.target, other.target] && hooks.targets.jobFailed == [other.target])
    #expect(hooks.targets.jobCompleted.isEmpty && !hooks.wantsFollowUp(after: .complete))
    #expect(hooks.wantsFollowUp(after: .fail) && hooks.wantsFollowUp(after: .expire) && !hooks.wantsHook(after: .fail))
    hooks.onBatchEnd = Command(arguments: ["/bin/true"])
    #expect(hooks.targets.batchEnd.first == HookConfiguration.batchEndTarget)
  }

  private func load(_ text: String) throws -> [Webhook] {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let path = try directory.file("transferd.yaml", text: "transferd:\n  webhooks:\n" + text)
    return try DaemonConfiguration.load(.init(configurationFile: path), environment: [:]).limits.hooks.webhooks
  }

  @Test("webhooks are read from the configuration")
  func configuration() throws {
    let hooks = try load(
      """
          - {url: "https://h/a", secret: "env:KEY", events: [job-failed, batch-end]}
          - {url: "http://127.0.0.1:1/b"}
      """)
    #expect(
      hooks == [
        Webhook(url: "https://h/a", secret: .environment("KEY"), events: [.jobFailed, .batchEnd]),
        Webhook(url: "http://127.0.0.1:1/b", secret: nil, events: Set(DeliveryEvent.allCases)),
      ])
  }

  @Test(
    "a mistake in a webhook names its entry, and shows neither URL nor secret",
    arguments: [
      ("    - {secret: \"env:K\"}\n", "entry 1 of webhooks: url is missing"),
      ("    - {url: \"ftp://h/s3cret\"}\n", "url must be an http or https URL"),
      ("    - {url: \"https://h/\", secret: s3cret}\n", "secret must be env:NAME"),
      ("    - {url: \"https://h/\", secret: netrc}\n", "secret must be env:NAME"),
      ("    - {url: \"https://h/\", events: [never]}\n", "events is \"never\""),
      ("    - {url: \"https://h/\", event: [batch-end]}\n", "unknown key \"event\""),
      (
        "    - {url: \"https://h/s3cret\"}\n    - {url: \"https://h/s3cret\"}\n", "entry 2 of webhooks: the url is that"
      ),
    ])
  func mistakes(_ text: String, _ words: String) {
    let error = #expect(throws: DaemonConfiguration.Invalid.self) { try load(text) }
    let description = error?.description ?? ""
    #expect(description.contains(words) && !description.contains("s3cret"), "\(description)")
  }
}

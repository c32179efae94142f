import Testing

@testable import transferctl

@Suite struct SubmissionTests {
  /// A kill of the daemon between the commit and the response: the message said that nothing was added.
  @Test("a connection that is lost leaves open whether the job was added, and the message says so")
  func lost() async throws {
    let daemon = ScriptedDaemon { _, _, _ in throw ControlError.unreachable("no answer") }
    var lines = JobLines()
    try lines.add(argument: "http://a/1", JobDefaults(directory: "/d"))
    let body = BulkBody(lines, isAlone: true)
    let failure = await #expect(throws: CommandFailure.self) {
      try await Submission.send(body, from: daemon.client)
    }
    #expect(failure?.status == .unreachable)
    #expect(failure?.message?.hasPrefix("no answer; the job may have been added: ") == true)
  }
}

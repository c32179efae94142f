import Testing

@testable import transferd

@Suite struct CallerTests {
  @Test("the daemon's own user and root reach all jobs, a member reaches the member's jobs")
  func scope() {
    #expect(Caller(uid: 1000, daemon: 1000).role == .owner)
    #expect(Caller(uid: 0, daemon: 1000).role == .root)
    #expect(Caller(uid: 1001, daemon: 1000).role == .member)
    // Root is the owner of a daemon that runs as root.
    #expect(Caller(uid: 0, daemon: 0).role == .owner)
    #expect(Caller(uid: 1000, daemon: 1000).scope == .everything)
    #expect(Caller(uid: 0, daemon: 1000).scope == .everything)
    #expect(Caller(uid: 1001, daemon: 1000).scope == .owner(1001))
  }

  @Test(
    "a member's job deletes and moves only the member's files",
    arguments: [
      // The file's owner, the job's, the daemon's.
      (1001, 1001, 1000, true), (1002, 1001, 1000, false), (1000, 1001, 1000, false), (0, 1001, 1000, false),
      (1002, 1000, 1000, true), (1002, 0, 1000, true), (0, 0, 0, true),
    ] as [(UInt32, UInt32, UInt32, Bool)])
  func files(file: UInt32, job: UInt32, daemon: UInt32, expected: Bool) {
    #expect(FileOwnership.mayRemove(fileOf: file, jobOf: job, daemon: daemon) == expected)
  }
}

import Testing
import WireValues

@testable import transferd

@Suite struct RecoveryTests {
  static let ours = FileIdentity(device: 1, inode: 10)
  static let other = FileIdentity(device: 1, inode: 11)

  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var finishing: FileIdentity?
    var part: FileIdentity?
    var destination: FileIdentity?
    var crashes = 0
    var expected: Recovery
  }

  static let rows: [Row] = [
    Row(testDescription: "killed before the first byte", expected: .requeue),
    Row(testDescription: "killed during the transfer", part: ours, expected: .requeue),
    Row(
      testDescription: "killed during the transfer, replacing a file", part: ours, destination: other,
      expected: .requeue),
    Row(testDescription: "about to rename, not renamed", finishing: ours, part: ours, expected: .requeue),
    Row(
      testDescription: "about to rename over a file, not renamed", finishing: ours, part: ours, destination: other,
      expected: .requeue),
    Row(testDescription: "renamed, the row not updated", finishing: ours, destination: ours, expected: .complete),
    Row(
      testDescription: "linked to its name, the part file's name not yet deleted", finishing: ours, part: ours,
      destination: ours,
      expected: .complete),
    Row(
      testDescription: "renamed, and replaced by another program since", finishing: ours, destination: other,
      expected: .requeue),
    Row(testDescription: "renamed, and deleted by another program since", finishing: ours, expected: .requeue),
    Row(
      testDescription: "renamed, and a new part file exists", finishing: ours, part: other, destination: ours,
      expected: .requeue),
    Row(
      testDescription: "another file has the name, nothing finished", destination: other, expected: .requeue),
    Row(testDescription: "five consecutive abrupt ends are tolerated", part: ours, crashes: 4, expected: .requeue),
    Row(testDescription: "the sixth postpones the job", part: ours, crashes: 5, expected: .postpone(attempt: 1)),
    Row(
      testDescription: "and each further one increases the delay", part: ours, crashes: 7,
      expected: .postpone(attempt: 3)),
    Row(
      testDescription: "a renamed file completes the job, however often the daemon crashed", finishing: ours,
      destination: ours,
      crashes: 9, expected: .complete),
  ]

  @Test("the files on disk decide the recovery", arguments: rows)
  func recovery(_ row: Row) {
    #expect(
      Recovery(
        finishing: row.finishing, atPartName: row.part, atDestination: row.destination, crashes: row.crashes)
        == row.expected)
  }
}

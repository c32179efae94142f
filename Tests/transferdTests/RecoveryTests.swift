import Testing

@testable import transferd

@Suite struct RecoveryTests {
  static let ours = RowFileIdentity(device: 1, inode: 10)
  static let other = RowFileIdentity(device: 1, inode: 11)

  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var finishing: RowFileIdentity?
    var part: RowFileIdentity?
    var destination: RowFileIdentity?
    var crashes = 0
    var expected: Recovery
  }

  static let rows: [Row] = [
    Row(testDescription: "killed before the first byte", expected: .requeue),
    Row(testDescription: "killed in mid-transfer", part: ours, expected: .requeue),
    Row(testDescription: "in mid-transfer, replacing a file", part: ours, destination: other, expected: .requeue),
    Row(testDescription: "about to rename, not renamed", finishing: ours, part: ours, expected: .requeue),
    Row(
      testDescription: "about to rename over a file, not renamed", finishing: ours, part: ours, destination: other,
      expected: .requeue),
    Row(testDescription: "renamed, the row not told", finishing: ours, destination: ours, expected: .complete),
    Row(
      testDescription: "renamed, and somebody replaced it since", finishing: ours, destination: other, expected: .requeue),
    Row(testDescription: "renamed, and somebody took it away", finishing: ours, expected: .requeue),
    Row(
      testDescription: "renamed, and a new part file was begun", finishing: ours, part: other, destination: ours,
      expected: .requeue),
    Row(
      testDescription: "somebody's file under the name, nothing finished", destination: other, expected: .requeue),
    Row(testDescription: "five ends in a row may be chance", part: ours, crashes: 4, expected: .requeue),
    Row(testDescription: "more are not", part: ours, crashes: 5, expected: .park(tries: 1)),
    Row(testDescription: "and count up", part: ours, crashes: 7, expected: .park(tries: 3)),
    Row(
      testDescription: "a finished job is finished, however often it crashed", finishing: ours, destination: ours,
      crashes: 9, expected: .complete),
  ]

  @Test("what is on the disk tells how far a job came", arguments: rows)
  func recovery(_ row: Row) {
    #expect(
      Recovery(
        finishing: row.finishing, atPartName: row.part, atDestination: row.destination, crashes: row.crashes)
        == row.expected)
  }
}

import Foundation
import HTTPTypes
import Testing

@testable import TransferEngine

/// The pure parts of what happens to a destination that exists.
@Suite struct ExistingFileDecisionTests {
  private static let stamp = FileStamp(size: 10, modified: 784_111_777_000_000_000, inode: 7)
  private static let other = FileStamp(size: 10, modified: 784_111_777_000_000_001, inode: 7)
  private static let record = FileRecord(validators: Validators(etag: "\"a\""), stamp: stamp)

  @Test(
    "a rule and what has the name decide how a file is fetched",
    arguments: [
      (.fail, nil, .fetch(.never)), (.fail, .file(stamp), .fail), (.fail, .other, .fail),
      (.skip, nil, .fetch(.never)), (.skip, .file(stamp), .skip), (.skip, .other, .skip),
      (.verify, nil, .fetch(.always)), (.verify, .file(stamp), .verify(stamp)), (.verify, .other, .fetch(.always)),
      (.rename, nil, .fetch(.nextName)), (.rename, .file(stamp), .fetch(.nextName)),
      (.rename, .other, .fetch(.nextName)),
      (.replace, nil, .fetch(.always)), (.replace, .file(stamp), .fetch(.always)), (.replace, .other, .fetch(.always)),
    ] as [(ExistingFileRule, Directory.Entry?, ExistingFileDecision)])
  func rules(_ rule: ExistingFileRule, _ entry: Directory.Entry?, _ expected: ExistingFileDecision) {
    #expect(ExistingFileDecision(rule, nil, entry) == expected)
  }

  @Test(
    "a known version is asked for, any other file is compared, and only a known version is replaced",
    arguments: [
      (.fail, [], nil, .fetch(.never)), (.replace, [], nil, .fetch(.always)),
      (.fail, [record], .file(stamp), .ask(record, .version(stamp))),
      (.replace, [record], .file(stamp), .ask(record, .always)),
      (.fail, [record], .file(other), .compare(other, .never)),
      (.replace, [record], .file(other), .compare(other, .always)),
      (.fail, [], .file(stamp), .compare(stamp, .never)), (.fail, [record], .other, .fail),
      (.replace, [record], .other, .fetch(.always)),
      (
        .fail, [FileRecord(validators: Validators(), stamp: other), record], .file(stamp),
        .ask(record, .version(stamp))
      ),
    ] as [(ExistingFileRule, [FileRecord], Directory.Entry?, ExistingFileDecision)])
  func changes(
    _ rule: ExistingFileRule, _ records: [FileRecord], _ entry: Directory.Entry?, _ expected: ExistingFileDecision
  ) {
    #expect(ExistingFileDecision(rule, records, entry) == expected)
  }

  @Test(
    "size, time and inode all have to be equal",
    arguments: [
      FileStamp(size: 11, modified: stamp.modified, inode: 7), other,
      FileStamp(size: 10, modified: stamp.modified, inode: 8),
    ])
  func differences(_ stamp: FileStamp) {
    #expect(ExistingFileDecision(.fail, [Self.record], .file(stamp)) == .compare(stamp, .never))
  }

  @Test(
    "any ETag asks for a change, a date only if it is strong and there is no ETag",
    arguments: [
      (Validators(etag: "\"a\""), "\"a\"", nil), (Validators(etag: "W/\"a\""), "W/\"a\"", nil),
      (
        Validators(etag: "\"a\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: nil), "\"a\"",
        "Sun, 06 Nov 1994 08:49:37 GMT"
      ),
      (
        Validators(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:38 GMT"), nil,
        "Sun, 06 Nov 1994 08:49:37 GMT"
      ),
      // The file may have changed again in the same second (RFC 9110 §8.8.2.2).
      (Validators(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:37 GMT"), nil, nil),
      (Validators(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"), nil, nil), (Validators(), nil, nil),
    ] as [(Validators, String?, String?)])
  func conditions(_ validators: Validators, _ etag: String?, _ date: String?) {
    let decision = ExistingFileDecision.ask(FileRecord(validators: validators, stamp: Self.stamp), .never)
    var question = RangeQuestion.whole
    question.unless = decision.condition
    var headers = HTTPFields()
    question.apply(to: &headers)
    #expect(headers[.ifNoneMatch] == etag && headers[.ifModifiedSince] == date && headers[.range] == nil)
    #expect((decision.condition == nil) == (etag == nil && date == nil))
  }

  @Test("a range is never asked for together with a condition about a change")
  func noRange() {
    var context = DownloadPipeline.AttemptContext()
    context.existing = .ask(Self.record, .never)
    let range = RangeQuestion(start: 5, bytesOnDisk: 5, condition: "\"a\"")
    #expect(DownloadPipeline.question(range, context) == range)
    #expect(DownloadPipeline.question(.whole, context).unless == Self.record.validators)
  }

  @Test(
    "a 304 is an answer only to a conditional request",
    arguments: [(true, ResumeDecision.unchanged), (false, .fail(.response(.unacceptableStatus(304, retryAfter: nil))))])
  func notModified(_ isConditional: Bool, _ expected: ResumeDecision) {
    var question = RangeQuestion.whole
    if isConditional { question.unless = Self.record.validators }
    let head = ResponseHead(status: 304, headers: [:])
    #expect(
      ResumeDecision(head: head, question: question, stored: nil, storedTotal: nil, retryAfter: nil) == expected)
  }

  @Test(
    "a file without a record is the server's version if length and whole seconds are equal",
    arguments: [
      (10, "Sun, 06 Nov 1994 08:49:37 GMT", true), (11, "Sun, 06 Nov 1994 08:49:37 GMT", false),
      (nil, "Sun, 06 Nov 1994 08:49:37 GMT", false), (10, "Sun, 06 Nov 1994 08:49:38 GMT", false),
      (10, "Sun, 06 Nov 1994 08:49:36 GMT", false), (10, nil, false), (10, "soon", false),
    ] as [(Int64?, String?, Bool)])
  func comparison(_ total: Int64?, _ date: String?, _ expected: Bool) {
    #expect(Self.other.matches(Validators(lastModified: date), total: total) == expected)
  }

  @Test("a record survives its encoding, whatever the values are, and unreadable data is no record")
  func encoding() {
    var validators = Validators(etag: "W/\"ä \"", lastModified: "x", date: "y")
    validators.modificationTime = -5
    for record in [
      Self.record, FileRecord(validators: validators, stamp: FileStamp(size: 0, modified: -1, inode: .max)),
      FileRecord(validators: Validators(), stamp: Self.stamp),
    ] {
      #expect(FileRecord(record.encoded()) == record)
      for length in 0..<record.encoded().count { _ = FileRecord(record.encoded().prefix(length)) }
    }
    for text in ["", "1", "2\n10\n1\n7\n\n\n\n", "1\nx\n1\n7\n\n\n\n", "1\n10\n1\n-7\n\n\n\n", "1\n10\n1\n7\n\n\n\n\n"]
    {
      #expect(FileRecord(Data(text.utf8)) == nil, "\(text)")
    }
    // A line break cannot come from a response. It must not move the other values.
    let split = FileRecord(validators: Validators(etag: "\"a\nb\"", date: "d"), stamp: Self.stamp)
    #expect(FileRecord(split.encoded())?.validators == Validators(date: "d"))
  }

  @Test("a 304 confirms the validators, and adds those that it has")
  func confirmed() {
    let old = Validators(etag: "\"a\"", lastModified: "l", date: "d")
    func head(_ fields: HTTPFields) -> ResponseHead { ResponseHead(status: 304, headers: fields) }
    #expect(old.confirmed(by: head([.date: "later"])) == old)
    #expect(old.confirmed(by: head([.date: "later", .lastModified: "l"])) == old)
    #expect(
      old.confirmed(by: head([.date: "later", .lastModified: "m", .eTag: "W/\"a\""]))
        == Validators(etag: "W/\"a\"", lastModified: "m", date: "later"))
  }
}

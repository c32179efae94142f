import Testing

@testable import TransferEngine

@Suite struct ResumeDataTests {
  private func data(total: Int64?, boot: String, isAtRest: Bool?) -> ResumeData {
    var data = ResumeData(
      url: "http://127.0.0.1/a", validators: Validators(), totalBytes: total,
      partialFile: .init(
        directory: "/d", name: ".a.part", identity: FileIdentity(device: 1, inode: 2, birth: 3), finalName: "a"),
      checkpointBytes: 100, bootID: boot)
    data.isAtRest = isAtRest
    return data
  }

  @Test(
    "the usable bytes end at the checkpoint, except after an interruption in the same boot")
  func usable() {
    let now = BootID.current
    let table: [(boot: String, isAtRest: Bool?, size: Int64, good: Int64?)] = [
      (now, nil, 100, 100), (now, nil, 150, 150), (now, nil, 50, 50), (now, nil, 0, nil), (now, nil, 201, 200),
      (now, true, 100, 100), (now, true, 150, 100), (now, true, 50, 50), (now, true, 0, nil), (now, true, 201, 100),
      ("before", nil, 150, 100), ("before", true, 150, 100), ("before", nil, 50, 50),
    ]
    for row in table {
      #expect(
        data(total: 200, boot: row.boot, isAtRest: row.isAtRest).usableBytes(ofFileWith: row.size) == row.good, "\(row)"
      )
    }
  }

  @Test("a comparison is needed only after an interruption in this boot, if the length is not the checkpoint")
  func compared() {
    let now = BootID.current
    let table: [(boot: String, isAtRest: Bool?, size: Int64, isCompared: Bool)] = [
      (now, nil, 100, false), (now, nil, 101, true), (now, nil, 201, true), (now, nil, 99, true),
      (now, true, 150, false), ("before", nil, 150, false), ("before", true, 150, false),
    ]
    for row in table {
      let data = data(total: 200, boot: row.boot, isAtRest: row.isAtRest)
      #expect(data.mustCompare(fileWith: row.size) == row.isCompared, "\(row)")
    }
  }

  @Test("data with impossible numbers or names is refused")
  func impossible() {
    let good = data(total: 200, boot: "b", isAtRest: nil)
    let changes: [(inout ResumeData) -> Void] = [
      { $0.checkpointBytes = -1 }, { $0.totalBytes = -1 }, { $0.totalBytes = .min }, { $0.refusals = -1 },
      { $0.refusals = .max }, { $0.partialFile.name = "" }, { $0.partialFile.name = "../x" },
      { $0.partialFile.name = ".." }, { $0.partialFile.finalName = "a/b" }, { $0.partialFile.finalName = "a\0b" },
    ]
    #expect(ResumeData(good.encoded()) == good)
    for change in changes {
      var bad = good
      change(&bad)
      #expect(ResumeData(bad.encoded()) == nil, "\(bad)")
    }
  }

  @Test("resume data of a release without isAtRest can be read")
  func older() throws {
    let old = data(total: nil, boot: "b", isAtRest: nil)
    #expect(!String(decoding: old.encoded(), as: UTF8.self).contains("isAtRest"))
    #expect(ResumeData(old.encoded()) == old)
    let new = data(total: nil, boot: "b", isAtRest: true)
    #expect(ResumeData(new.encoded())?.isAtRest == true)
  }
}

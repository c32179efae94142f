import Testing

@testable import TransferAPI

@Suite struct AddedRunTests {
  @Test("a run grows by the next line with the next id only")
  func growth() {
    var run = AddedRun(line: 5, id: JobID(100))
    #expect([(6, 101), (8, 102), (7, 103)].map { run.extend(line: $0, id: JobID($1)) } == [true, false, false])
    #expect(run.lines == 5...6 && run.ids == 100...101 && run.count == 2)
    #expect(run.json == #"{"lines":[5,6],"ids":[100,101]}"#)
    #expect(AddedRun(json: run.json.utf8) == run)
  }

  @Test(
    "other texts are not runs",
    arguments: [
      "", "{}", #"{"line":1,"id":2}"#, #"{"lines":[1,2],"ids":[5,7]}"#, #"{"lines":[2,1],"ids":[5,4]}"#,
      #"{"lines":[0,1],"ids":[5,6]}"#, #"{"lines":[1,1],"ids":[0,0]}"#, #"{"lines":[1,1],"ids":[5,5]} "#,
      #"{"lines":[-1,1],"ids":[5,7]}"#, #"{"lines":[1,9999999999999999999],"ids":[5,7]}"#,
      #"{"lines":[1,999999999999999999],"ids":[5,7]}"#,
    ])
  func malformed(_ text: String) {
    #expect(AddedRun(json: text.utf8) == nil)
  }

  @Test("ids at the end of their range do not overflow")
  func overflow() {
    var run = AddedRun(line: 1, id: JobID(.max))
    let isLonger = run.extend(line: 2, id: JobID(.min))
    #expect(!isLonger)
    #expect(run.ids == Int64.max...Int64.max)
  }
}

import Testing

@testable import TransferEngine

@Suite struct DuplicateLinksTests {
  @Test(
    "duplicates are read from Link, by their priority",
    arguments: [
      (["<http://a/1>; rel=duplicate"], ["http://a/1"]),
      (["<http://a/1>; rel=\"duplicate\"; pri=2, <http://b/1>; pri=1; rel=duplicate"], ["http://b/1", "http://a/1"]),
      (["<http://a/1>; rel=duplicate", "<http://b/1>; rel=duplicate; pri=5; geo=de"], ["http://b/1", "http://a/1"]),
      (["<http://a/1>; rel=next, <http://b/1>; rel=\"describedby duplicate\""], ["http://b/1"]),
      (["<http://a/1>; rel=describedby; rel=duplicate"], []),
      (["<http://a/,;1>;rel=duplicate"], ["http://a/,;1"]),
      (["<http://a/1>; title=\"a, b; \\\"c\\\"\"; rel=duplicate"], ["http://a/1"]),
      (
        ["<http://a/1>; rel=duplicate; pri=0", "<http://b/1>; rel=duplicate; pri=999999"], ["http://b/1", "http://a/1"]
      ),
      (["<http://a/1>; REL=Duplicate; pref"], ["http://a/1"]), ([""], []), (["<http://a/1"], []),
      (["<>; rel=duplicate"], []),
      (["<http://a/1>; rel=\"duplicate"], []), (["nonsense, <http://a/1>; rel=duplicate"], []),
      (["<http://a/1>; rel=duplicate garbage, <http://b/1>; rel=duplicate"], []), ([";;;,,,<<<>>>"], []),
      (["<http://a/1>; rel=duplicate;;; pri"], ["http://a/1"]),
    ] as [([String], [String])])
  func read(fields: [String], urls: [String]) {
    #expect(DuplicateLinks(fields).urls == urls)
  }

  @Test("hostile fields are bounded: many links, long URLs, long fields")
  func bounds() {
    let many = (0..<1000).map { "<http://a/\($0)>; rel=duplicate" }.joined(separator: ", ")
    #expect(DuplicateLinks([many]).urls.count == DuplicateLinks.maximumCount)
    #expect(DuplicateLinks(["<http://a/\(String(repeating: "x", count: 5000))>; rel=duplicate"]).urls == [])
    #expect(DuplicateLinks(["<http://a/1>; rel=duplicate; x=\(String(repeating: "y", count: 70_000))"]).urls == [])
  }
}

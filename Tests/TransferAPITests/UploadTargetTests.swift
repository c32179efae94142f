import Testing
import TransferAPI

@Suite("upload targets") struct UploadTargetTests {
  @Test(
    "a name and a collection are joined before the collection's query",
    arguments: [
      ("https://h/in/", "a.csv", "https://h/in/a.csv"),
      ("https://h/in/?t=1", "sub/a.csv", "https://h/in/sub/a.csv?t=1"),
      ("https://h/in/#f?g/", "a", "https://h/in/a#f?g/"), ("s3://bucket/", "a%20b", "s3://bucket/a%20b"),
      ("https://h/in/?t=a/", "\u{301}x", "https://h/in/\u{301}x?t=a/"),
    ])
  func joined(_ collection: String, _ name: String, _ url: String) {
    let target = UploadTarget(collection: collection, name: name)
    #expect(target.url.utf8.elementsEqual(url.utf8))
    #expect(target.collection == collection && target.name == name)
    #expect(UploadTarget(url: target.url, collection: target.collection) == target)
  }

  @Test(
    "rows and JSON are read as they were written; a URL in the collection has a name",
    arguments: [
      ("https://h/in/a.csv", "https://h/in/", "a.csv"),
      ("https://h/in/sub/a.csv?t=1", "https://h/in/?t=1", "sub/a.csv"),
      // As clients and rows may have them: a tus server creates there all the same.
      ("https://h/in/a.csv?t=1", "https://h/in/?t=2", "a.csv"), ("https://h/in/a.csv", "https://h/other/", nil),
      ("https://h/in/", "https://h/in/", nil), ("https://h/in/a.csv", "https://h/in", nil),
      ("https://h/in/a.csv?/in/", "https://h/in/a.csv?/", nil), ("https://h/in/a.csv", nil, nil),
    ] as [(String, String?, String?)])
  func read(_ url: String, _ collection: String?, _ name: String?) {
    let target = UploadTarget(url: url, collection: collection)
    #expect(target.url == url && target.collection == collection)
    #expect(target.name == name)
  }

  @Test(
    "a moved target keeps its name in another collection, and takes the URL of another file as it is",
    arguments: [
      ("https://new/up/", "https://new/up/sub/a.csv", "https://new/up/"),
      ("https://new/up/?token=2", "https://new/up/sub/a.csv?token=2", "https://new/up/?token=2"),
      ("https://new/x/sub/a.csv", "https://new/x/sub/a.csv", "https://new/x/"),
      ("https://new/x/sub/a.csv?token=2", "https://new/x/sub/a.csv?token=2", "https://new/x/?token=2"),
      ("https://new/a.csv", "https://new/a.csv", nil), ("https://new/up/sub/b.csv", "https://new/up/sub/b.csv", nil),
      ("https://new/up/xsub/a.csv", "https://new/up/xsub/a.csv", nil),
    ] as [(String, String, String?)])
  func moved(_ other: String, _ url: String, _ collection: String?) {
    // The file's URL may have a query of its own.
    for old in ["https://h/in/?token=1", "https://h/in/?token=2"] {
      let moved = UploadTarget(url: "https://h/in/sub/a.csv?token=1", collection: old).moved(to: other)
      #expect(moved == UploadTarget(url: url, collection: collection))
      #expect(moved.url == url && moved.collection == collection)
    }
  }

  @Test("a target without a name takes every other URL as it is", arguments: [nil, "https://h/other/"] as [String?])
  func withoutName(_ collection: String?) {
    let moved = UploadTarget(url: "https://h/in/a.csv", collection: collection).moved(to: "https://new/up/")
    #expect(moved == UploadTarget(url: "https://new/up/"))
  }
}

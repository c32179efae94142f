import Testing
import TransferAPI

@Suite("upload targets") struct UploadTargetTests {
  @Test(
    "a target is a collection and a name if the URL is the collection with a name appended",
    arguments: [
      ("https://h/in/a.csv", "https://h/in/", "a.csv"),
      ("https://h/in/sub/a.csv?t=1", "https://h/in/?t=1", "sub/a.csv"),
      ("https://h/in/a.csv", "https://h/other/", nil), ("https://h/in/", "https://h/in/", nil),
      ("https://h/in/a.csv", "https://h/in", nil), ("https://h/in/a.csv", nil, nil),
    ] as [(String, String?, String?)])
  func parts(_ url: String, _ collection: String?, _ name: String?) {
    let target = UploadTarget(url: url, collection: collection)
    #expect(target.url == url)
    #expect(target.name.map(String.init) == name)
    #expect(target.collection == (name == nil ? nil : collection))
    if let name, let collection { #expect(UploadTarget(collection: collection, name: name) == target) }
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
    let target = UploadTarget(url: "https://h/in/sub/a.csv?token=1", collection: "https://h/in/?token=1")
    let moved = target.moved(to: other)
    #expect(moved.url == url)
    #expect(moved.collection == collection)
  }

  @Test("a target without a collection takes every other URL as it is")
  func withoutCollection() {
    let moved = UploadTarget(url: "https://h/in/a.csv").moved(to: "https://new/up/")
    #expect(moved == UploadTarget(url: "https://new/up/"))
  }
}

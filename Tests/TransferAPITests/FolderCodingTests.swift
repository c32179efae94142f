import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct FolderCodingTests {
  private func refusal(_ json: String) -> String? {
    do {
      _ = try WireCoding.decoder().decode(NewFolder.self, from: Data(json.utf8))
      return nil
    } catch { return WireCoding.explain(error) }
  }

  @Test("a folder is one flat object, which survives its way through JSON")
  func coding() throws {
    var folder = NewFolder(directory: "/a", to: "https://h/{name}")
    (folder.settle, folder.recursive, folder.newOnly, folder.batch, folder.priority) = (2.5, true, true, "b", -3)
    folder.options.onSuccess = .move(to: "/sent")
    folder.options.upload.ifAbsent = true
    folder.options.credentials = .environment("X")
    let data = try WireCoding.encoder().encode(folder)
    #expect(try WireCoding.decoder().decode(NewFolder.self, from: data) == folder)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#""ifAbsent":true"#) && text.contains(#""onSuccess":"move=/sent""#))
    let stored = WatchedFolder(
      id: 7, folder: folder, owner: 5, createdAt: Date(timeIntervalSince1970: 1), uploads: 9, error: "no")
    let shown = try WireCoding.encoder().encode(stored)
    #expect(try WireCoding.decoder().decode(WatchedFolder.self, from: shown) == stored)
  }

  @Test("a listed folder has every field, and the standard time")
  func shown() throws {
    let folder = WatchedFolder(
      id: 1, folder: NewFolder(directory: "/a", to: "https://h/"), owner: 0, createdAt: Date(timeIntervalSince1970: 0))
    let text = String(decoding: try WireCoding.encoder().encode(folder), as: UTF8.self)
    #expect(
      text == #"{"batch":null,"createdAt":"1970-01-01T00:00:00.000Z","directory":"/a","error":null,"id":1,"#
        + #""newOnly":false,"options":{},"owner":0,"priority":0,"recursive":false,"settle":10,"to":"https://h/","uploads":0}"#
    )
  }

  @Test("secrets are found wherever they are")
  func secrets() {
    var folder = NewFolder(directory: "/a", to: "https://h/in/")
    #expect(!folder.hasSecrets)
    folder.to = "https://me:pass@h/in/"
    #expect(folder.hasSecrets)
    folder.to = "https://h/in/"
    folder.options.headers = ["Cookie": "x"]
    #expect(folder.hasSecrets)
  }

  @Test(
    "wrong fields are refused",
    arguments: [
      (#"{"to":"https://h/"}"#, "missing field \"directory\""), (#"{"directory":"/a"}"#, "missing field \"to\""),
      (#"{"directory":"/a","to":"x","source":"/b"}"#, "unknown field \"source\""),
      (#"{"directory":"/a","to":"x","key":"k"}"#, "unknown field \"key\""),
      (#"{"directory":"/a","to":"x","segments":2}"#, "segments is for downloads"),
      (#"{"directory":"/a","to":"x","collection":"https://h/"}"#, "collection follows"),
      (#"{"directory":"/a","to":"x","recursive":true,"maxDepth":2}"#, "is for listings"),
      (#"{"directory":"/a","to":"x","include":["*.gz"]}"#, "is for listings"),
    ])
  func refused(_ json: String, _ words: String) {
    #expect(self.refusal(#"{"directory":"/a","to":"x","settle":0}"#) != nil)
    let refusal = refusal(json)
    #expect(refusal?.contains(words) == true, "\(refusal ?? "accepted")")
  }
}

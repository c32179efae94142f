import FoundationEssentials

@testable import TransferAPI
@testable import TransferEngine
@testable import transferctl

extension FuzzCase {
  static let names = [contentDisposition, fileName, multipartHead, template, printable, redaction]

  private static let contentDisposition = FuzzCase("content-disposition") { bytes in
    if let name = SafeFileName(contentDisposition: Input(bytes).text) { try check(name) }
  }

  /// A suggested file name, and the last segment of a URL's path.
  private static let fileName = FuzzCase("file-name") { bytes in
    let text = Input(bytes).text
    for name in [SafeFileName(suggested: text), SafeFileName(urlPath: text)] {
      if let name { try check(name) }
    }
  }

  private static func check(_ name: SafeFileName) throws {
    let text = name.string
    try require(!text.isEmpty, "an empty name")
    try require(text.utf8.count <= SafeFileName.maximumBytes, "a name of \(text.utf8.count) bytes")
    try require(!text.utf8.contains(UInt8(ascii: "/")) && !text.utf8.contains(UInt8(ascii: "\\")), "a path: \(text)")
    try require(!text.hasControls, "a control character in a name")
    try require(text != "." && text != "..", "a directory's name")
    guard let first = text.unicodeScalars.first else { return }
    try require(first != "." && first != "-" && first != "~", "the name \(text)")
    do throws(TransferError) {
      try SafeFileName.check(text)
    } catch {
      throw BrokenProperty(description: "its own check refuses the name: \(error)")
    }
    try require(SafeFileName(suggested: text) == name, "made safe twice, \(text) is another name")
    let part = SafeFileName.partial(for: text, token: "01234567")
    // ".new" is appended while the file is written.
    try require(part.utf8.count + 4 <= SafeFileName.maximumBytes, "a part file's name of \(part.utf8.count) bytes")
    // Compare bytes, as file systems do: a dot with a combining mark is another Character.
    let bytes = Array(part.utf8)
    try require(
      bytes.starts(with: ".".utf8) && bytes.suffix(14).elementsEqual(".01234567.part".utf8) && !bytes.contains(0x2F),
      "the part file \(part)")
  }

  /// Line 1: the field's name. Line 2: the file's name. Line 3: its type.
  private static let multipartHead = FuzzCase("multipart-head", maximumLength: 1024) { bytes in
    var input = Input(bytes)
    let (name, file, type) = (input.line(), input.line(), input.text)
    for suffix in ["", "\r", "\u{301}"] {
      let head = MultipartFormat.head(name: name + suffix, fileName: file + suffix, mimeType: type)
      let ends = head.utf8.count { $0 == 10 || $0 == 13 }
      try require(ends == 4, "a part's head of \(ends / 2) lines")
      let first = head.utf8.prefix { $0 != 13 }
      try require(first.count { $0 == UInt8(ascii: "\"") } == 4, "a name that ends its quotes")
    }
  }

  /// A template of a URL or a key, expanded for a file with hostile names.
  private static let template = FuzzCase("upload-template", maximumLength: 512) { bytes in
    let text = Input(bytes).text
    let template: UploadTemplate
    do {
      template = try UploadTemplate(parsing: text)
    } catch {
      return
    }
    let file = UploadedFile(
      path: "/srv/a b%/ü\n?#\r\n{name}", relativePath: "b%/ü\n?#\r\n{name}", size: 5, modifiedSeconds: -1,
      modifiedNanoseconds: 7, sha256: "00")
    for ending in [UploadTemplate.Ending.none, .name, .path] {
      let url = template.target(for: file, ending: ending).url
      try require(text.hasControls || !url.hasControls, "a file's name brings a control character into a URL")
    }
    try require(text.hasControls || !template.expanded(for: file).hasControls, "a control character in a key")
    _ = template.collection(for: file)
  }

  private static let printable = FuzzCase("printable", maximumLength: 1024) { bytes in
    let text = Input(bytes).text.printable
    try require(!text.hasControls, "a control character is printed")
    for width in [0, 1, 2, 10, 79] {
      let fitted = text.fitted(to: width)
      try require(fitted.columns <= max(width, 0), "\(fitted.columns) columns instead of \(width)")
    }
    try require(RemoteErrors.printable(Input(bytes).text).unicodeScalars.count <= 300, "an endless reply")
  }

  /// Text around a secret must not make it visible.
  private static let redaction = FuzzCase("redaction", maximumLength: 1024) { bytes in
    let text = Input(bytes).text
    try require(!Secrets.redacting(url: "https://u:PLANTED@host/" + text).contains("PLANTED"), "userinfo is shown")
    guard !text.contains("#"), !text.contains("PLANTED") else { return }
    let shown = Secrets.redacting(url: "https://host/?\(text)&token=PLANTED")
    try require(!shown.contains("PLANTED"), "a secret is shown after \(text)")
    try require(Secrets.redacting(url: shown) == shown, "redacted twice, it is another URL")
    try require(!Redaction.pairs(text + "&token=PLANTED").contains("PLANTED"), "the engine shows a secret")
  }
}

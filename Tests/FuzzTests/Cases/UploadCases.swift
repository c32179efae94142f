import CCurl
import FoundationEssentials
import HTTPTypes

@testable import TransferEngine

extension FuzzCase {
  static let uploads = [uploadFields, xml, s3Failure, ftpReply]

  /// The header fields of tus and of resumable uploads.
  private static let uploadFields = FuzzCase("upload-fields") { bytes in
    var input = Input(bytes)
    guard let head = input.head() else { return }
    for name in ["Upload-Offset", "Upload-Length", "Tus-Max-Size"] {
      if let count = head.count(name) { try require(count >= 0, "\(name) is \(count)") }
    }
    if let server = TusServer(head), let size = server.maximumSize { try require(size >= 0, "a limit of \(size)") }
    if let limit = UploadLimit(head) {
      for size in [limit.maximumSize, limit.maximumAppend, limit.minimumAppend] {
        try require(size ?? 0 >= 0, "a limit of \(size ?? 0)")
      }
    }
    if let version = ResumableFields.version(of: head) {
      try require(ResumableFields.known.contains(version), "version \(version) counts as a known one")
    }
    _ = ResumableFields.isComplete(head)
    if let expiry = TusSender.expiry(head) { try require(expiry >= 0, "an upload that expires at \(expiry)") }
    guard let location = head.headers[.location] else { return }
    var request = TransferRequest(url: try RequestURL("https://host.example/files/"), method: .post)
    request.headers = [.authorization: "Bearer SECRET"]
    guard let moved = try? request.moved(to: location) else { return }
    try require(moved.url.scheme == "https", "an upload leaves https")
    try require(
      moved.url.origin == request.url.origin || moved.headers[.authorization] == nil, "a secret leaves its origin")
  }

  /// An XML document, the values read from it, and the document written with them.
  private static let xml = FuzzCase("xml", maximumLength: 8192) { bytes in
    let text = String(String.UnicodeScalarView(Input(bytes).text.unicodeScalars.filter(isAllowed)))
    let quoted = "<a>\(XMLElement.escaped(text))</a>"
    try require(XMLElement(Data(quoted.utf8))?.text == text, "what is written is not what is read")
    guard let root = XMLElement(Data(bytes)) else { return }
    let elements = count(root)
    try require(elements <= bytes.count / 3, "\(elements) elements of \(bytes.count) bytes")
    guard root.name == "ListPartsResult" else { return }
    let parts = root.all("Part").map { element in
      S3Parts.Part(number: 1, etag: element["ETag"]?.text ?? "", checksum: element["ChecksumSHA256"]?.text, size: 1)
    }
    let document = S3Parts.document(parts)
    guard let again = XMLElement(Data(document.utf8)) else {
      throw BrokenProperty(description: "a request that is no XML: \(document)")
    }
    try require(again.all("Part").map { $0["ETag"]?.text } == parts.map(\.etag), "the parts' ETags are others")
    _ = S3Parts.expectedETag(parts)
  }

  /// XML 1.0 §2.2, `Char`.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10, 13, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }

  private static func count(_ element: XMLElement) -> Int { element.children.reduce(1) { $0 + count($1) } }

  /// An error response of S3: the rest after its head is the document.
  private static let s3Failure = FuzzCase("s3-failure") { bytes in
    var input = Input(bytes)
    let status = input.numbers().first ?? nil
    var head = ResponseHead(status: Int(clamping: status ?? 400))
    head.headers.set("x-amz-bucket-region", input.line())
    let failure = S3Failure(UploadResponse(head: head, data: Data(input.rest)))
    let error = failure.transferError(head)
    try require("\(error)".utf8.count < 4096, "an endless error")
    try require(!"\(error)".hasControls, "an error that steers the terminal")
    guard let region = failure.region(head) else { return }
    // The region becomes part of a host name.
    try require(
      (1...64).contains(region.utf8.count) && region.utf8.allSatisfy { isNameByte($0) }, "the region \(region)")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// The first byte is libcurl's result, the second the reply's code divided by 3; the rest is the reply.
  private static let ftpReply = FuzzCase("ftp-reply", maximumLength: 1024) { bytes in
    var input = Input(bytes)
    let code = CURLcode(UInt32(input.byte()) % 101)
    let status = Int(input.byte()) * 3
    let reply = RemoteErrors.printable(input.text)
    try require(!reply.hasControls, "a control character in a reply")
    for scheme in ["ftp", "sftp"] {
      let request = TransferRequest(url: try RequestURL("\(scheme)://host.example/a/b"))
      let error = RemoteErrors.translate(
        code,
        RemoteErrors.Situation(
          options: RemoteOptions(request, SessionConfiguration()), host: "host.example:21", status: status,
          reply: reply, systemError: Int32(input.byte()), received: 0, isConnected: true))
      try require(!"\(error)".isEmpty && !"\(error)".hasControls, "an error that steers the terminal")
      _ = error.isTransient
      _ = error.retryAdvice
    }
  }
}

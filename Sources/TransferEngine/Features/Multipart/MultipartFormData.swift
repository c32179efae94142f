public import FoundationEssentials
import Glibc
public import HTTPTypes
import WireValues

/// A body of type `multipart/form-data` (RFC 7578): Alamofire's form of this name.
///
/// Appending a file examines it, but does not read it: the form is a list of segments that is sent in constant memory,
/// whatever its size. The first part that cannot be appended is remembered, and every method that needs the whole form
/// throws its error. Not `Sendable`: fill it in one place, then make a `RequestBody`, which is.
public final class MultipartFormData {
  /// Separates the parts. A resumed upload must use the same boundary.
  public let boundary: String

  /// `multipart/form-data; boundary=…`
  public var contentType: String { "multipart/form-data; boundary=\(MultipartFormat.parameter(boundary))" }

  /// Bytes of the parts' contents, without heads and boundaries; see `encodedLength`.
  public var contentLength: Int64 { parts.reduce(0) { $0 + $1.content.reduce(0) { $0 + $1.count } } }

  private struct Part {
    /// Lines with their ends.
    var head: String
    var content: [BodySegment]
  }

  private var parts: [Part] = []
  private var failure: TransferError?

  /// - Parameter boundary: 1 to 70 characters of the set in RFC 2046 §5.1.1; by default 128 random bits, so that no
  ///   content contains it.
  public init(boundary: String? = nil) {
    self.boundary = boundary ?? MultipartFormat.randomBoundary()
    if !MultipartFormat.isValid(self.boundary) { failure = .multipart(.invalidBoundary(self.boundary)) }
  }

  /// Adds a part.
  /// - Parameters:
  ///   - data: the part's content, kept in memory.
  ///   - name: the field's name.
  ///   - fileName: the file name that the form announces; `nil`: not a file.
  ///   - mimeType: `nil` for none, which means text (RFC 7578 §4.4).
  public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
    let head = MultipartFormat.head(name: name, fileName: fileName, mimeType: mimeType)
    parts.append(Part(head: head, content: [.data(data)]))
  }

  /// Adds a file with its own name and the media type of its extension, or else `application/octet-stream`.
  public func append(_ fileURL: URL, withName name: String) {
    let fileName = fileURL.lastPathComponent
    guard !fileName.isEmpty, fileName != "/", fileName != ".", fileName != ".." else {
      return fail(.bodyPartFilenameInvalid(in: fileURL.path))
    }
    append(fileURL, withName: name, fileName: fileName, mimeType: MediaTypeTable.mediaType(forFileName: fileName))
  }

  /// Adds a file. Its size is taken now; it must not become shorter until it has been sent.
  public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
    guard fileURL.isFileURL else { return fail(.bodyPartURLInvalid(url: fileURL.scheme ?? "what has no scheme")) }
    let path = fileURL.path
    var status = stat()
    guard stat(path, &status) == 0 else {
      return fail(.bodyPartFileNotReachable(at: path, reason: String(cString: strerror(errno))))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return fail(.bodyPartFileIsDirectory(at: path)) }
    let head = MultipartFormat.head(name: name, fileName: fileName, mimeType: mimeType)
    parts.append(Part(head: head, content: [.file(path: path, range: 0..<Int64(status.st_size))]))
  }

  /// Adds a part with its own header fields, made of segments. The caller provides Content-Disposition with a name.
  public func append(_ content: [BodySegment], headers: HTTPFields) {
    parts.append(Part(head: headers.map { "\($0.name.rawName): \($0.value)\r\n" }.joined(), content: content))
  }

  /// Adds a part from a stream. Its bytes are kept on disk until the form is sent: a stream can be read only once, and
  /// the length must be known before the first byte is sent.
  ///
  /// - Parameters:
  ///   - stream: read to its end before the call returns. Its error is thrown when the form is used.
  ///   - length: the number of bytes that the stream must produce; another number fails the form.
  ///   - fileName: the file name that the form announces.
  ///   - isolation: the caller's isolation; use the default.
  ///   - mimeType: the part's media type.
  ///   - name: the field's name.
  public func append<Pieces: AsyncSequence>(
    _ stream: Pieces, withLength length: Int64, name: String, fileName: String, mimeType: String,
    isolation: isolated (any Actor)? = #isolation
  ) async where Pieces.Element == Data {
    do {
      let file = try SpooledFile(in: SpooledFile.directory)
      var count: Int64 = 0
      for try await piece in stream {
        count = count.saturatingSum(Int64(piece.count))
        guard count <= length else { break }
        try await BlockingIO.run { () throws(TransferError) in try file.append(piece) }
      }
      guard count == length else {
        return fail(.bodyPartInputStreamLengthMismatch(expected: length, actual: count))
      }
      let head = MultipartFormat.head(name: name, fileName: fileName, mimeType: mimeType)
      parts.append(Part(head: head, content: [.kept(KeptStream(file: file, count: count))]))
    } catch let error as TransferError {
      failure = failure ?? error
    } catch {
      fail(.inputStreamReadFailed(reason: "\(error)"))
    }
  }

  private func fail(_ reason: TransferError.MultipartFailure) {
    // The first failure is reported.
    failure = failure ?? .multipart(reason)
  }

  /// The whole form, to be sent in constant memory.
  /// - Throws: `.multipart`, for the first part that could not be appended.
  public func segments() throws(TransferError) -> [BodySegment] {
    if let failure { throw failure }
    guard !parts.isEmpty else { return [] }
    var segments: [BodySegment] = []
    var text = "--\(boundary)\r\n"
    for part in parts {
      text += part.head + "\r\n"
      segments.append(.data(Data(text.utf8)))
      segments += part.content
      text = "\r\n--\(boundary)\r\n"
    }
    segments.append(.data(Data("\r\n--\(boundary)--\r\n".utf8)))
    return segments
  }

  /// The whole form as a request's body. A form without parts is empty.
  public func requestBody() throws(TransferError) -> RequestBody { .segments(try segments()) }

  /// The size of the whole form in bytes: the value of Content-Length.
  public func encodedLength() throws(TransferError) -> Int64 { try segments().reduce(0) { $0 + $1.count } }

  /// The whole form in memory. Blocks while files are read.
  /// - Throws: `.multipart`; `.file` if a file cannot be read or became shorter.
  public func encode() throws(TransferError) -> Data {
    var data = Data()
    try BodyReader.forEachPiece(of: requestBody()) { data.append(contentsOf: $0) }
    return data
  }

  /// Writes the whole form to a new file, mode 0600. After a failure the file is removed. Blocks.
  /// - Throws: `.multipart(.outputStreamFileAlreadyExists)` if the file exists.
  public func writeEncodedData(to fileURL: URL) throws(TransferError) {
    guard fileURL.isFileURL else { throw .multipart(.bodyPartURLInvalid(url: fileURL.scheme ?? "what has no scheme")) }
    let path = fileURL.path
    _ = try segments()
    let descriptor = MultipartFormat.create(path)
    guard descriptor >= 0 else {
      if errno == EEXIST { throw .multipart(.outputStreamFileAlreadyExists(at: path)) }
      throw .file(.system("cannot write the form to \(path)", errno: errno))
    }
    defer { close(descriptor) }
    do throws(TransferError) {
      try BodyReader.forEachPiece(of: requestBody()) { piece throws(TransferError) in
        guard MultipartFormat.writeAll(piece, to: descriptor) else {
          throw .file(.system("cannot write the form to \(path)", errno: errno))
        }
      }
    } catch {
      unlink(path)
      throw error
    }
  }
}

/// What identifies a multipart upload to S3.
struct S3Progress: Sendable, Equatable, Codable {
  /// Larger than any part that S3 or a compatible server accepts (AWS: 5 GiB), and small enough to be added to a file's
  /// size.
  static let largestPart: Int64 = 1 << 50

  var uploadID: String
  /// The object's URL when the upload began: `https://host/bucket/key`.
  var object: String
  var partSize: Int64
  /// The ETag that the whole object will have; set before the request that completes the upload.
  var completing: String?
}

/// The protocol of an upload.
public enum UploadProtocolName: String, Codable, CaseIterable, Sendable {
  /// By the URL's scheme; for http and https the server is asked what it can, else `plain`.
  case auto
  case plain
  /// `multipart/form-data`
  case form
  /// tus 1.0.0
  case tus
  /// Resumable Uploads for HTTP, the IETF's draft.
  case resumable
  case s3
  case webdav
}

/// The protocol of an upload.
public enum UploadProtocol: Sendable {
  /// Chosen by the URL's scheme; for http and https tus if the URL is a tus endpoint, otherwise `.plain`.
  case automatic
  /// One PUT or POST of the bytes. It cannot be resumed: each attempt sends everything.
  case plain
  /// One POST as `multipart/form-data` (RFC 7578).
  case form(FormOptions)
  /// tus 1.0.0 (tus.io/protocols/resumable-upload).
  case tus(TusOptions)
  /// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload). If the server does not support it, the same
  /// request is a plain upload.
  case resumable
  /// Amazon S3 and compatible servers; in parts from 16 MiB on.
  case s3(S3Options)
  /// PUT to a temporary name, then MOVE (RFC 4918). Missing collections are created.
  case webDAV
  /// ftp, ftps, sftp or scp, by the URL's scheme: a temporary name, then a rename.
  case remoteFile
}

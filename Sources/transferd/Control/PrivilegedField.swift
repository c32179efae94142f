/// A field of a request, or a kind of value in it, that needs a privilege.
struct PrivilegedField: Equatable, Sendable {
  /// The field's name in JSON or in the query.
  let name: String
  /// The values that need the privilege, for people; `nil`: every value.
  let values: String?
  let privilege: Privilege

  init(_ name: String, _ values: String?, _ privilege: Privilege) {
    self.name = name
    self.values = values
    self.privilege = privilege
  }
}

extension [PrivilegedField] {
  /// No field of the request needs a privilege.
  static let none: Self = []

  /// A job that is added: `POST /v1/jobs` and each line of `POST /v1/jobs:batch`.
  static let newJob: Self = [
    .init("source", "a path outside memberReadRoots", .anyPath),
    .init("destination", "a path outside memberWriteRoots", .anyPath),
    .init("directory", "a path outside memberWriteRoots", .anyPath),
    .init("partDir", "a path outside memberWriteRoots", .anyPath),
    .init("onSuccess", "move to a directory outside memberWriteRoots", .anyPath),
    .init("onSuccess", "delete or move a file of another user", .filesOfOthers),
    .init("source", "a URL of an address that is not public", .anyAddress),
    .init("destination", "a URL of an address that is not public", .anyAddress),
    .init("thenUpload", "a URL of an address that is not public", .anyAddress),
    .init("endpoint", "an address that is not public", .anyAddress),
    .init("collection", "an address that is not public", .anyAddress),
    .init("source", "s3:, sftp: or scp: without a key, or a user name and a password", .serviceCredentials),
    .init("destination", "s3:, sftp: or scp: without a key, or a user name and a password", .serviceCredentials),
    .init("thenUpload", "s3:, sftp: or scp: without a key, or a user name and a password", .serviceCredentials),
    .init("ca", "a path outside memberReadRoots", .anyPath),
    .init("cert", "a path outside memberReadRoots", .anyPath),
    .init("certKey", "a path outside memberReadRoots", .anyPath),
    .init("cookies", "a path outside memberReadRoots", .anyPath),
    .init("proxy", nil, .route),
    .init("proxyCredentials", nil, .route),
    .init("resolve", nil, .route),
    .init("insecure", nil, .route),
    .init("interface", nil, .route),
    .init("profile", nil, .profile),
    .init("credentials", "netrc", .netrcReference),
    .init("credentials", "env:NAME", .environmentReference),
    .init("credentials", "file:PATH", .fileReference),
    .init("credentials", "exec:COMMAND", .commandReference),
    .init("targetCredentials", "netrc", .netrcReference),
    .init("targetCredentials", "env:NAME", .environmentReference),
    .init("targetCredentials", "file:PATH", .fileReference),
    .init("targetCredentials", "exec:COMMAND", .commandReference),
    .init("urlFrom", "env:NAME", .environmentReference),
    .init("urlFrom", "file:PATH", .fileReference),
    .init("urlFrom", "exec:COMMAND", .commandReference),
    .init("secretHeaders", "env:NAME", .environmentReference),
    .init("secretHeaders", "file:PATH", .fileReference),
    .init("secretHeaders", "exec:COMMAND", .commandReference),
  ]

  /// A watched folder. Its uploads are checked like other jobs of the same user.
  static let newFolder: Self =
    [.init("directory", "a path outside memberWriteRoots or memberReadRoots", .anyPath)] + newJob

  /// A change of a job: `PATCH /v1/jobs/{id}`. The privilege of the job's owner counts, not that of the caller.
  static let jobChange: Self = [
    .init("url", "an address that is not public", .anyAddress),
    .init("url", "s3:, sftp: or scp: without a key, or a user name and a password", .serviceCredentials),
  ]

  /// A query that may be narrowed to the jobs of one user.
  static let owner: Self = [.init("owner", "another user", .jobsOfOthers)]
}

import FoundationEssentials
import GRDB
import TransferAPI

/// Version 3: secrets have their own table.
extension Migrations {
  /// - `secret`: the secrets of jobs and of unfinished uploads to delete. One row holds the secrets of several of them;
  ///   `SecretPack` says why.
  /// - `secret`, `secret_offset`, `secret_length` in other tables: where the row's secrets are stored. All NULL if it
  ///   has none.
  /// - `owner`: the uid of the job's owner. The owner's rules apply when the upload is deleted on its server.
  static func secretTables(_ owner: UInt32) -> String {
    """
    CREATE TABLE secret (
      id INTEGER PRIMARY KEY,
      data BLOB NOT NULL
    ) STRICT;
    ALTER TABLE job ADD COLUMN secret INTEGER;
    ALTER TABLE job ADD COLUMN secret_offset INTEGER;
    ALTER TABLE job ADD COLUMN secret_length INTEGER;
    ALTER TABLE abandonment ADD COLUMN secret INTEGER;
    ALTER TABLE abandonment ADD COLUMN secret_offset INTEGER;
    ALTER TABLE abandonment ADD COLUMN secret_length INTEGER;
    ALTER TABLE abandonment ADD COLUMN owner INTEGER NOT NULL DEFAULT \(owner)
      CHECK (owner >= 0 AND owner <= 4294967295);
    """
  }

  /// Moves the secrets out of the rows. Their old bytes are erased when the file is rewritten (`DatabaseFile.rewrite`).
  static func moveSecrets(_ db: Database, path: String) throws {
    try moveSecrets(db, path, of: "job", kind: "kind", resumeData: "resume_data")
    try moveSecrets(db, path, of: "abandonment", kind: "'upload'", resumeData: "ledger")
  }

  private static func moveSecrets(
    _ db: Database, _ path: String, of table: String, kind: String, resumeData: String
  ) throws {
    let transaction = Transaction(db, path: path)
    var pack = SecretPack()
    var last: Int64 = 0
    while true {
      let rows = try OldRow.fetch(db, table, kind: kind, resumeData: resumeData, after: last)
      for row in rows {
        let (open, secrets) = row.spec.split()
        guard let secrets else { continue }
        let bytes = try secrets.encoded()
        let place = try pack.place(for: bytes, transaction)
        pack.keep(bytes)
        try db.run(
          """
          UPDATE \(table) SET source = :source, destination = :destination, username = NULL, password = NULL,
            options = :options, \(resumeData) = :resume_data,
            secret = :secret, secret_offset = :secret_offset, secret_length = :secret_length
          WHERE id = :id
          """
        ) { bind in
          bind("source", open.source)
          bind("destination", open.destination)
          bind("options", row.openOptions(open))
          bind("resume_data", row.openResumeData(secrets))
          bind.secretPlace(place)
          bind("id", row.id)
        }
      }
      guard let end = rows.last?.id else { break }
      last = end
    }
    try pack.flush(transaction)
  }
}

/// The options that version 2 kept in JSON.
private struct Version2Options: Codable, Equatable {
  var headers: [String: String]?
  var credentials: SecretReference?
  var secretHeaders: [String: SecretHeader]?
  var upload: UploadObject?

  init(_ options: JobOptions) {
    if !options.headers.isEmpty { headers = options.headers }
    credentials = options.credentials
    if !options.secretHeaders.isEmpty { secretHeaders = options.secretHeaders }
    let object = UploadObject(upload: options.upload, s3: options.s3, onSuccess: options.onSuccess)
    if object != UploadObject() { upload = object }
  }

  var options: JobOptions {
    var options = JobOptions()
    options.headers = headers ?? [:]
    options.credentials = credentials
    options.secretHeaders = secretHeaders ?? [:]
    if let upload { (options.upload, options.s3, options.onSuccess) = (upload.upload, upload.s3, upload.onSuccess) }
    return options
  }
}

/// A row of version 2 that may hold secrets.
private struct OldRow {
  var id: Int64
  var spec: JobSpec
  var hasOptions: Bool
  /// Options that this release cannot read; they are left as they are.
  var unreadableOptions: String?
  var resumeData: Data?

  static func fetch(
    _ db: Database, _ table: String, kind: String, resumeData: String, after id: Int64
  ) throws -> [OldRow] {
    let sql = """
      SELECT id, \(kind) AS kind, source, destination, username, password, options, \(resumeData) AS resume_data
      FROM \(table)
      WHERE id > :after
        AND (username IS NOT NULL OR options IS NOT NULL OR instr(source, '?') OR instr(destination, '?'))
      ORDER BY id LIMIT 500
      """
    return try db.rows(sql) { bind in
      bind("after", id)
    } read: { reader in
      let id = try reader.int64("id")
      reader.subject = "\(table) \(id)"
      let kind: JobKind = try reader.word("kind")
      let (source, destination) = (try reader.text("source"), try reader.text("destination"))
      var spec =
        switch kind {
        case .download, .listing, .relay: JobSpec(owner: 0, url: source, origin: "", destination: destination)
        case .upload: JobSpec(owner: 0, uploading: source, to: destination, origin: "")
        }
      let (username, password) = (try reader.optionalText("username"), try reader.optionalText("password"))
      if let username, let password { spec.credentials = .init(username: username, password: password) }
      let text = try reader.optionalText("options")
      let readable = text.flatMap { try? WireCoding.decoder().decode(Version2Options.self, from: Data($0.utf8)) }
      if let readable { spec.options = readable.options }
      return OldRow(
        id: id, spec: spec, hasOptions: text != nil, unreadableOptions: readable == nil ? text : nil,
        resumeData: try reader.optionalData("resume_data"))
    }
  }

  func openOptions(_ open: JobSpec) -> String? {
    guard hasOptions, unreadableOptions == nil else { return unreadableOptions }
    let options = Version2Options(open.options)
    guard options != Version2Options(JobOptions()) else { return nil }
    return (try? WireCoding.encoder().encode(options)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Earlier releases wrote the whole URL into a download's resume data, for people.
  func openResumeData(_ secrets: JobSecrets) -> Data? {
    guard var data = resumeData, let url = secrets.url else { return resumeData }
    let open = Data(url.prefix { $0 != "?" }.utf8)
    while let range = data.firstRange(of: Data(url.utf8)) { data.replaceSubrange(range, with: open) }
    return data
  }
}

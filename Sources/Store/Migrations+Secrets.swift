import FoundationEssentials
import GRDB
import TransferAPI

/// Version 3: secrets stand in a table of their own.
extension Migrations {
  /// - `secret`: the secrets of jobs and abandonments, those of several in one row; `SecretPack` says why.
  /// - `secret`, `secret_offset`, `secret_length` in other tables: where a row's secrets stand there. All NULL for none.
  /// - `owner`: the uid of the abandoned job's owner, whose rules hold for taking it back.
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

  /// Moves what stands in the rows. Their old bytes go when the file is written anew (`DatabaseFile.rewrite`).
  static func moveSecrets(_ db: Database, path: String) throws {
    try moveSecrets(db, path, of: .job, kind: "kind", resumeData: "resume_data")
    try moveSecrets(db, path, of: .abandonment, kind: "'upload'", resumeData: "ledger")
  }

  private static func moveSecrets(
    _ db: Database, _ path: String, of table: SecretOwner, kind: String, resumeData: String
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
          UPDATE \(table.rawValue) SET source = ?, destination = ?, username = NULL, password = NULL, options = ?,
            \(resumeData) = ?, secret = ?, secret_offset = ?, secret_length = ?
          WHERE id = ?
          """
        ) { bind in
          bind(open.source)
          bind(open.destination)
          bind(row.openOptions(open))
          bind(row.openResumeData(secrets))
          bind(place)
          bind(row.id)
        }
      }
      guard let end = rows.last?.id else { break }
      last = end
    }
    try pack.flush(transaction)
  }
}

/// A row of version 2 that may hold secrets.
private struct OldRow {
  var id: Int64
  var spec: JobSpec
  var hasOptions: Bool
  /// What this release cannot read: it is left as it is.
  var unreadableOptions: String?
  var resumeData: Data?

  static func fetch(
    _ db: Database, _ table: SecretOwner, kind: String, resumeData: String, after id: Int64
  ) throws -> [OldRow] {
    let sql = """
      SELECT id, \(kind), source, destination, username, password, options, \(resumeData) FROM \(table.rawValue)
      WHERE id > ? AND (username IS NOT NULL OR options IS NOT NULL OR instr(source, '?') OR instr(destination, '?'))
      ORDER BY id LIMIT 500
      """
    return try db.rows(sql) { bind in
      bind(id)
    } read: { reader in
      let id = try reader.int64()
      reader.subject = "\(table.rawValue) \(id)"
      let kind: JobKind = try reader.word()
      let (source, destination) = (try reader.text(), try reader.text())
      var spec =
        switch kind {
        case .download: JobSpec(owner: 0, url: source, origin: "", destination: destination)
        case .upload: JobSpec(owner: 0, uploading: source, to: destination, origin: "")
        }
      let (username, password) = (try reader.optionalText(), try reader.optionalText())
      if let username, let password { spec.credentials = .init(username: username, password: password) }
      let options = try reader.optionalText()
      let readable = options.flatMap { try? WireCoding.decoder().decode(JobOptions.self, from: Data($0.utf8)) }
      readable?.fill(&spec)
      return OldRow(
        id: id, spec: spec, hasOptions: options != nil, unreadableOptions: readable == nil ? options : nil,
        resumeData: try reader.optionalData())
    }
  }

  func openOptions(_ open: JobSpec) -> String? {
    guard hasOptions, unreadableOptions == nil else { return unreadableOptions }
    return (try? JobOptions.json(for: open)) ?? nil
  }

  /// Earlier releases wrote the whole URL into a download's resume data, for people.
  func openResumeData(_ secrets: JobSecrets) -> Data? {
    guard var data = resumeData, let url = secrets.url else { return resumeData }
    let open = Data(url.prefix { $0 != "?" }.utf8)
    while let range = data.firstRange(of: Data(url.utf8)) { data.replaceSubrange(range, with: open) }
    return data
  }
}

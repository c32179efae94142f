import FoundationEssentials
import GRDB
public import TransferAPI

extension Store {
  /// The sources of a download as its last attempt left them; empty if it has only its own URL, or had no attempt.
  public func sources(of id: JobID) async throws(StoreError) -> [JobSource] {
    try await read { db in
      let text = try db.row("SELECT sources FROM job_source WHERE job = :id", id: id.rawValue) {
        try $0.text("sources")
      }
      guard let text else { return [] }
      return (try? WireCoding.decoder().decode([JobSource].self, from: Data(text.utf8))) ?? []
    }
  }
}

extension Transaction {
  /// Stores what an attempt has left; nothing if the job has only its own URL.
  func storeSources(_ sources: [JobSource], of id: JobID) throws {
    guard !sources.isEmpty, let data = try? WireCoding.encoder().encode(sources) else { return }
    try run("INSERT OR REPLACE INTO job_source (job, sources) VALUES (:job, :sources)") { bind in
      bind("job", id)
      bind("sources", String(decoding: data, as: UTF8.self))
    }
  }
}

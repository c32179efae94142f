import Foundation
import Store
import TestSupport
import Testing
import WireValues

@testable import TransferEngine
@testable import transferd

/// A server that invents entries must not fill the disk.
@Suite struct EntryBudgetTests {
  @Test func `what is spent stays spent`() throws {
    let budget = EntryBudget(10)
    try budget.spend(10)
    #expect(!budget.isSpent)
    #expect(throws: TransferError.self) { try budget.spend(1) }
    #expect(budget.isSpent)
    #expect(throws: TransferError.self) { try budget.spend(0) }
    #expect(throws: TransferError.self) { try EntryBudget(5).spend(.max) }
  }

  @Test("a listing of endless directories ends, also when it is tried again", .timeLimit(.minutes(1)))
  func endless() async throws {
    // Each directory has two others and a file.
    let server = try LoopbackServer { _ in
      Script.response(
        200, headers: ["Content-Type": "text/html"],
        text: #"<html><h1>Index of /</h1><pre><a href="a/">a/</a><a href="b/">b/</a><a href="f">f</a></pre>"#)
    }
    let directory = try TemporaryDirectory()
    let store = try Store(directory: directory.path("state"), now: Date()) { _ in }
    var spec = JobSpec(owner: 0, url: server.url("/d/"), origin: server.url(""), destination: directory.path("out/"))
    spec.kind = .listing
    let id = try await store.submit([spec], in: .everything, at: Date())[0].get().id
    let record = try await store.claim([id], at: Date())[0]
    let session = Session()
    let request = TransferRequest(url: try RequestURL(server.url("/d/")))
    for _ in 1...2 {
      let attempt = ListingAttempt(
        record: record, store: store, lister: DirectoryLister(session: session, request: request),
        filter: PathFilter(), added: { _, _ in }, budget: EntryBudget(50))
      let response = await attempt.run()
      guard case .response(.malformed(let reason))? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(reason.contains("more than 50 entries") && reason.contains("--max-depth"))
      #expect(response.sums.files <= 50)
    }
    await store.close()
  }
}

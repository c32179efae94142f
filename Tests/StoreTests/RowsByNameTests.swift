import Foundation
import GRDB
import Testing

@testable import Store

/// Columns and parameters are found by their names, never by their positions.
@Suite struct RowsByNameTests {
  @Test("columns are read by name, in any order and any number of times")
  func anyOrder() throws {
    try DatabaseQueue().inDatabase { db in
      let row = try db.row("SELECT 1 AS one, 'b' AS two, 3 AS three") { row in
        [
          "\(try row.int("three"))", try row.text("two"), "\(try row.int("one"))", "\(try row.int("one"))",
          "\(try row.int("three"))",
        ]
      }
      #expect(row == ["3", "b", "1", "1", "3"])
    }
  }

  @Test("a column that is not there, or has another type, is an error that names it")
  func unreadable() throws {
    try DatabaseQueue().inDatabase { db in
      let missing = #expect(throws: RowReader.Unreadable.self) {
        try db.row("SELECT 1 AS one") { try $0.int("two") }
      }
      #expect(missing?.description == "a row has no column two")
      let wrong = #expect(throws: RowReader.Unreadable.self) {
        try db.row("SELECT 'x' AS one, NULL AS two") { row in
          row.subject = "job 7"
          return try row.int("one")
        }
      }
      #expect(wrong?.description == "job 7 has an unreadable one")
      #expect(throws: RowReader.Unreadable.self) { try db.row("SELECT NULL AS one") { try $0.text("one") } }
    }
  }

  @Test("parameters are bound by name, in any order, each exactly once")
  func parameters() throws {
    try DatabaseQueue().inDatabase { db in
      let sql = "SELECT :a AS a, :b AS b, :a || :c AS ac"
      for _ in 0..<2 {
        let row = try db.row(sql) { bind in
          bind("c", "z")
          bind("b", 7)
          bind("a", "x")
        } read: { row in
          "\(try row.text("ac")) \(try row.int("b"))"
        }
        #expect(row == "xz 7")
      }
      // A cached statement would still have the last value.
      #expect(throws: DatabaseError.self) { try db.run(sql) { $0("a", "x") } }
      #expect(throws: DatabaseError.self) {
        try db.run(sql) { bind in
          for name: StaticString in ["a", "b", "c", "d"] { bind(name, 1) }
        }
      }
      #expect(throws: DatabaseError.self) {
        try db.run("SELECT :a") { bind in
          bind("a", 1)
          bind("a", 2)
        }
      }
    }
  }

  @Test("a statement that is executed again finds its names, whatever the order was before")
  func executedAgain() throws {
    try DatabaseQueue().inDatabase { db in
      let statement = try PreparedStatement(db, "SELECT :a AS x, :b AS y, :c AS z")
      let orders: [[StaticString]] = [
        ["a", "b", "c"], ["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"], ["a", "b", "c"],
      ]
      for order in orders {
        let values = try statement.row { bind in
          for name in order { bind(name, "\(name)") }
        } read: { row in
          order.first?.description == "c"
            ? [try row.text("z"), try row.text("y"), try row.text("x")].reversed()
            : [try row.text("x"), try row.text("y"), try row.text("z")]
        }
        #expect(values == ["a", "b", "c"])
      }
      #expect(throws: DatabaseError.self) {
        try statement.run { bind in
          for name: StaticString in ["a", "b", "b"] { bind(name, 1) }
        }
      }
      #expect(throws: RowReader.Unreadable.self) {
        try statement.row { bind in
          for name: StaticString in ["a", "b", "c"] { bind(name, 1) }
        } read: { row in
          [try row.int("x"), try row.int("a")]
        }
      }
    }
  }

  @Test("a job is the same whatever the order of the columns")
  func columnOrder() async throws {
    let fixture = try Fixture()
    var spec = JobSpec(
      owner: Fixture.owner, uploading: "/a", to: "https://h/a", origin: "https://h:443",
      credentials: .init(username: "u", password: "p"))
    spec.options.maxAttempts = 3
    spec.batch = "b"
    spec.key = "k"
    let id = try await fixture.add(spec)
    let record = try await fixture.record(id)
    let same = try await fixture.store.read { db in
      let inner = "SELECT \(JobRecord.columns) FROM job WHERE id = :id"
      let names = try db.makeStatement(sql: inner).columnNames
      #expect(names.count > 30)
      return try db.row("SELECT \(names.reversed().joined(separator: ", ")) FROM (\(inner))") { bind in
        bind("id", id)
      } read: {
        try JobRecord(&$0)
      }
    }
    #expect(same == record && record.spec == spec)
  }

  /// Beside GRDB's own rows, for docs/decisions/0007-rows-by-name.md: TRANSFERD_MEASURE=1 prints both.
  @Test("a million rows are read", .enabled(if: ProcessInfo.processInfo.environment["TRANSFERD_MEASURE"] != nil))
  func measure() async throws {
    let fixture = try Fixture()
    for result in await fixture.store.submit((1...1000).map { Fixture.spec($0) }, at: Fixture.epoch) {
      _ = try result.get()
    }
    try await fixture.store.read { db in
      let clock = ContinuousClock()
      let rounds = 100
      let ours = try clock.measure {
        for _ in 0..<rounds {
          _ = try db.rows("SELECT \(JobRecord.columns) FROM job") { row in
            (
              try row.text("source"), try row.int64("bytes_done"), try row.optionalInt64("retry_at"),
              try row.int("crashes")
            )
          }
        }
      }
      let theirs = try clock.measure {
        for _ in 0..<rounds {
          let statement = try db.cachedStatement(sql: "SELECT \(JobRecord.columns) FROM job")
          let rows = try Row.fetchCursor(statement)
          while let row = try rows.next() {
            let values: (String, Int64, Int64?, Int) = (
              row["source"], row["bytes_done"], row["retry_at"], row["crashes"]
            )
            withExtendedLifetime(values) {}
          }
        }
      }
      let whole = try clock.measure {
        for _ in 0..<rounds { _ = try db.rows("SELECT \(JobRecord.columns) FROM job") { try JobRecord(&$0) } }
      }
      let count = Double(rounds * 1000)
      print("per row: ours \(ours / count), GRDB \(theirs / count), a whole JobRecord \(whole / count)")
      let bindOurs = try clock.measure {
        for n in 0..<100_000 {
          _ = try db.row("SELECT :a AS a, :b AS b, :c AS c, :d AS d, :e AS e, :f AS f, :g AS g, :h AS h") { bind in
            bind("a", n)
            bind("b", n)
            bind("c", n)
            bind("d", n)
            bind("e", n)
            bind("f", "text")
            bind("g", n)
            bind("h", n)
          } read: {
            try $0.int("a")
          }
        }
      }
      let bindTheirs = try clock.measure {
        for n in 0..<100_000 {
          let statement = try db.cachedStatement(
            sql: "SELECT :a AS a, :b AS b, :c AS c, :d AS d, :e AS e, :f AS f, :g AS g, :h AS h")
          let row = try Row.fetchOne(
            statement,
            arguments: ["a": n, "b": n, "c": n, "d": n, "e": n, "f": "text", "g": n, "h": n])
          let value: Int? = row?["a"]
          withExtendedLifetime(value) {}
        }
      }
      print("per statement with 8 parameters: ours \(bindOurs / 100_000), GRDB \(bindTheirs / 100_000)")
    }
  }
}

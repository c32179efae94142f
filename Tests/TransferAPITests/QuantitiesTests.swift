import Testing
import TransferAPI

@Suite struct QuantitiesTests {
  @Test(
    "rates",
    arguments: [
      ("500", 500), ("64K", 65536), ("1.5M", 1_572_864), ("2G", 2_147_483_648), ("1", 1), ("0", nil), ("-1", nil),
      ("", nil), ("K", nil), ("1T", nil), ("inf", nil), ("nan", nil), ("1e9", nil), ("0.5", nil), ("9999999999G", nil),
    ] as [(String, Int64?)])
  func rate(_ text: String, _ expected: Int64?) {
    #expect(ByteRate(text)?.bytesPerSecond == expected)
  }

  @Test(
    "durations",
    arguments: [
      ("30", 30), ("30s", 30), ("5m", 300), ("2h", 7200), ("1d", 86400), ("500ms", 0.5), ("0", nil), ("-1", nil),
      ("", nil), ("s", nil), ("5x", nil), ("1000d", nil),
    ] as [(String, Double?)])
  func duration(_ text: String, _ expected: Double?) {
    #expect(TimeSpan(text)?.seconds == expected)
  }

  @Test("a checksum is accepted with each spelling of its algorithm")
  func checksum() throws {
    let hex = String(repeating: "aB", count: 32)
    #expect(try Checksum(parsing: "SHA256=\(hex)").description == "sha-256=\(hex.lowercased())")
    #expect(try Checksum(parsing: "md5=d41d8cd98f00b204e9800998ecf8427e").algorithm == .md5)
  }

  @Test(
    "an impossible checksum is refused",
    arguments: ["", "sha-256", "sha-256=", "sha-256=zz", "crc=00", "md5=00"])
  func badChecksum(_ text: String) {
    #expect(throws: WireError.self) { try Checksum(parsing: text) }
  }
}

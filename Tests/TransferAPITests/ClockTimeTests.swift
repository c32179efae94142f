import Testing
import TransferAPI

@Suite struct ClockTimeTests {
  @Test(
    "times of day",
    arguments: [
      ("00:00", 0), ("08:30", 510), ("24:00", 1440), ("24:01", nil), ("8:30", nil), ("08:60", nil), ("0830", nil),
      ("+1:00", nil), ("", nil),
    ] as [(String, Int?)])
  func minutes(_ text: String, _ minute: Int?) { #expect(ClockTime.minute(text) == minute) }
}

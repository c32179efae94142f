import Testing

@testable import transferctl

@Suite struct HumanNumbersTests {
  @Test(
    "sizes",
    arguments: [
      (0, "0 B"), (-5, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
      (1_048_575, "1.0 MiB"), (1_048_576, "1.0 MiB"), (1_073_741_823, "1.0 GiB"),
      (5_368_709_120, "5.0 GiB"), (Int64.max, "8.0 EiB"),
    ])
  func size(bytes: Int64, text: String) {
    #expect(HumanNumbers.size(bytes) == text)
  }

  @Test("an unknown size and a rate of 0 are shown as a dash")
  func unknown() {
    #expect(HumanNumbers.size(nil) == "-")
    #expect(HumanNumbers.rate(0) == "-")
    #expect(HumanNumbers.rate(2048) == "2.0 KiB/s")
  }

  @Test(
    "durations",
    arguments: [
      (-1, "0s"), (0, "0s"), (59, "59s"), (60, "1m00s"), (125, "2m05s"), (3599, "59m59s"), (3600, "1h00m"),
      (86399, "23h59m"), (86400, "1d00h"), (273_600, "3d04h"), (Int64.max, ">999d"),
    ])
  func duration(seconds: Int64, text: String) {
    #expect(HumanNumbers.duration(seconds: seconds) == text)
  }

  @Test(
    "time left",
    arguments: [
      (0, 100, 10, "10s"), (0, 101, 10, "11s"), (100, 100, 10, "0s"), (0, nil, 10, "-"), (0, 100, 0, "-"),
      (200, 100, 10, "-"), (0, Int64.max, 1, ">999d"),
    ] as [(Int64, Int64?, Int64, String)])
  func eta(done: Int64, total: Int64?, rate: Int64, text: String) {
    #expect(HumanNumbers.eta(done: done, total: total, rate: rate) == text)
  }

  @Test(
    "100% is shown only at the end",
    arguments: [
      (0, 100, 0), (999, 1000, 99), (1000, 1000, 100), (2000, 1000, 100), (0, 0, 100), (5, nil, nil),
      (Int64.max - 1, Int64.max, 99), (-1, 10, 0),
    ] as [(Int64, Int64?, Int?)])
  func percent(done: Int64, total: Int64?, percent: Int?) {
    #expect(HumanNumbers.percent(done: done, total: total) == percent)
  }

  @Test("counts have the singular and the plural")
  func jobs() {
    #expect(HumanNumbers.jobs(1) == "1 job")
    #expect(HumanNumbers.jobs(0) == "0 jobs")
  }
}

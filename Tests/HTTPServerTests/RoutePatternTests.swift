import Testing

@testable import HTTPServer

@Suite struct RoutePatternTests {
  @Test(
    "a path matches as a whole, and gives the value of the parameter",
    arguments: [
      ("/v1/jobs", ["v1", "jobs"], ""), ("/v1/jobs", ["v1"], nil), ("/v1/jobs", ["v1", "jobs", "1"], nil),
      ("/v1/jobs/{id}", ["v1", "jobs", "7"], "7"), ("/v1/jobs/{id}", ["v1", "jobs", "7:pause"], nil),
      ("/v1/jobs/{id}", ["v1", "jobs", ""], nil), ("/v1/jobs/{id}:pause", ["v1", "jobs", "7:pause"], "7"),
      ("/v1/jobs/{id}:pause", ["v1", "jobs", ":pause"], nil),
      ("/v1/jobs/{id}:pause", ["v1", "jobs", "7:cancel"], nil),
      ("/v1/jobs/{id}:pause", ["v1", "jobs", "7:x:pause"], nil),
      ("/v1/batches/{name}", ["v1", "batches", "a:b"], "a:b"),
    ] as [(String, [String], String?)])
  func match(pattern: String, path: [String], value: String?) {
    #expect(RoutePattern(pattern).match(path) == value)
  }
}

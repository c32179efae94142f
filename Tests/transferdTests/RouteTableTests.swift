import Foundation
import HTTPServer
import Testing

@testable import transferd

@Suite struct RouteTableTests {
  /// `GET /v1/jobs` and so on, from docs/openapi.yaml.
  private func documented() throws -> Set<String> {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent("docs/openapi.yaml"), encoding: .utf8)
    let lines = text.components(separatedBy: "\n").drop { $0 != "paths:" }.dropFirst().prefix {
      $0.isEmpty || $0.hasPrefix(" ")
    }
    var (routes, path): (Set<String>, String) = ([], "")
    for line in lines {
      if line.hasPrefix("  /"), line.hasSuffix(":") { path = String(line.dropFirst(2).dropLast()) }
      let method = line.dropFirst(4).prefix { $0 != ":" }
      guard line.hasPrefix("    "), ["get", "post", "put", "patch", "delete", "head"].contains(method) else { continue }
      routes.insert("\(method.uppercased()) \(path)")
    }
    return routes
  }

  @Test("docs/openapi.yaml describes exactly the routes of the table")
  func openAPI() throws {
    let routes = RouteTable.routes.map { "\($0.method.rawValue) \($0.path)" }
    #expect(Set(routes).count == routes.count)
    #expect(try documented() == Set(routes))
  }

  @Test("docs/control-api.md names every route of the table")
  func documentation() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appendingPathComponent("docs/control-api.md"), encoding: .utf8)
    for route in RouteTable.routes {
      let path = "\(route.path)"
      // A table row may list the verbs that follow a colon.
      let parts = path.split(separator: ":", maxSplits: 1)
      #expect(text.contains(String(parts[0])), "\(path)")
      if parts.count > 1 { #expect(text.contains(":\(parts[1])"), "\(path)") }
    }
  }

  @Test("only the daemon's user and root may stop the daemon, reload its configuration and change its limits")
  func audiences() {
    for route in RouteTable.routes {
      let isForAdministrators = "\(route.path)".hasPrefix("/v1/daemon:") || "\(route.path)" == "/v1/limits"
      #expect(route.isOpen(to: .member(1001)) != isForAdministrators, "\(route.path)")
      #expect(route.isOpen(to: .owner) && route.isOpen(to: .root), "\(route.path)")
    }
  }

  @Test("every privilege is needed by a route or a field")
  func completeness() {
    let used = RouteTable.routes.flatMap { [$0.privilege].compactMap { $0 } + $0.fields.map(\.privilege) }
    #expect(Set(used) == Set(Privilege.allCases))
  }
}

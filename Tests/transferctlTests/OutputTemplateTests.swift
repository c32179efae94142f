import Testing
import TransferAPI

@testable import transferctl

@Suite struct OutputTemplateTests {
  @Test(
    "fields stand for parts of the URL",
    arguments: [
      ("{host}/{path}", "http://u:p@H.test:8080/a/b%20c/d.iso?x=1#y", "h.test/a/b c/d.iso"),
      ("{n}-{name}", "http://h/a/d.iso", "7-d.iso"), ("{name}", "http://h/", "download"),
      ("{host}/{path}", "http://[::1]:80/", "::1/download"), ("{path}", "http://h/a/", "a/download"),
      ("{{{name}}}", "http://h/x", "{x}"), ("a{{b}}", "http://h/x", "a{b}"), ("plain/x", "http://h/y", "plain/x"),
      ("{path}", "http://h/%2e%2e/%2e%2e/etc/passwd", "etc/passwd"), ("{path}", "http://h/../../x", "x"),
      ("{path}", "http://h/..%2f..%2fx/y", "x/y"), ("x/{name}", "http://h/.bashrc", "x/_bashrc"),
      ("{name}", "http://h/a%0Ab%00c", "abc"), ("{name}", "http://h/%2e%2e", "download"),
      ("{path}", "http://h/-rf", "_rf"),
      ("{host}", "http://.../x", "host"),
    ])
  func expansion(_ template: String, _ url: String, _ path: String) throws {
    #expect(try OutputTemplate(parsing: template).expanded(for: url, number: 7) == path)
  }

  @Test("a name that becomes too long is shortened, and keeps its extension")
  func long() throws {
    let url = "http://h/" + String(repeating: "n", count: 250) + ".iso"
    let name = try OutputTemplate(parsing: "{n}-prefix-{name}").expanded(for: url, number: 1)
    #expect(name.utf8.count == 255 && name.hasPrefix("1-prefix-nn") && name.hasSuffix("n.iso"))
  }

  @Test(
    "faulty templates are refused",
    arguments: [
      "{", "}", "a{b", "{x}", "{}", "{Name}", "{size}", "../{name}", "{name}/..", "{name}/", "/x/{name}", "", "-",
    ])
  func faults(_ text: String) {
    #expect(throws: WireError.self) { try OutputTemplate(parsing: text) }
  }

  @Test("only a template without fields is constant")
  func constant() throws {
    #expect(try OutputTemplate(parsing: "a{{n}}").isConstant)
    #expect(try !OutputTemplate(parsing: "a{n}").isConstant)
  }

  @Test("the template names what a line does not name itself; numbers count all jobs")
  func lines() throws {
    var defaults = JobDefaults(directory: "/d")
    defaults.output = try OutputTemplate(parsing: "{n}/{name}")
    var lines = JobLines(.table)
    let text = """
      http://h/a
      {"url":"http://h/b","destination":"{n}.x"}
      {"url":"http://h/c","directory":"sub"}
      {"url":"http://h/e","nameFromResponse":true}
      http://h/d
      """
    try lines.add(file: listFile(Array(text.utf8)), defaults)
    #expect(lines.faults.isEmpty)
    let table = String(decoding: try lines.spool.data, as: UTF8.self).split(separator: "\n")
    #expect(
      table == [
        "http://h/a\t/d/1/a", "http://h/b\t/d/{n}.x", "http://h/c\t/d/sub/3/c", "http://h/e\t/d/", "http://h/d\t/d/5/d",
      ])
  }
}

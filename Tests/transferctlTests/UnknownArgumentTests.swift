import Testing

@testable import transferctl

@Suite struct UnknownArgumentTests {
  private static let syntax = Result { try CommandSyntax(of: Transferctl.self) }

  private static func message(_ line: String) throws -> String? {
    let words = line.split(separator: " ").map(String.init)
    return UnknownArgument.first(in: words, of: try syntax.get())?.description
  }

  @Test(
    "an unknown option is reported with the nearest known one",
    arguments: [
      ("add http://h/ -o x --priorty 4", "unknown option '--priorty'; did you mean '--priority'?"),
      ("add --chekcsum=sha-256=1 http://h/", "unknown option '--chekcsum'; did you mean '--checksum'?"),
      ("add http://h/ --frobnicate", "unknown option '--frobnicate'; see 'transferctl add --help'"),
      ("add http://h/ -q", "unknown option '-q'; see 'transferctl add --help'"),
      ("add http://h/ -Jq", "unknown option '-Jq'; see 'transferctl add --help'"),
      ("add http://h/ -oname", "unknown option '-oname'; did you mean '-o name'?"),
      ("add http://h/ -batch b", "unknown option '-batch'; did you mean '--batch'?"),
      ("add http://h/ -o --pausd", "unknown option '--pausd'; did you mean '--paused'?"),
      ("upload f --too http://h/", "unknown option '--too'; did you mean '--to'?"),
      ("status --al", "unknown option '--al'; see 'transferctl status --help'"),
      ("pause --al", "unknown option '--al'; did you mean '--all'?"),
      ("daemon status --formt json", "unknown option '--formt'; did you mean '--format'?"),
      ("batch show b --xyzzy", "unknown option '--xyzzy'; see 'transferctl batch show --help'"),
      ("--verson", "unknown option '--verson'; did you mean '--version'?"),
      ("--format json status", "unknown option '--format'; see 'transferctl --help'"),
      ("--sockt x status", "unknown option '--sockt'; did you mean '--socket'?"),
      ("add -directory d", "unknown option '-directory'; did you mean '--directory'?"),
      ("ls --watsh", "unknown option '--watsh'; did you mean '--watch'?"),
    ])
  func options(_ line: String, _ expected: String) throws {
    #expect(try Self.message(line) == expected)
  }

  @Test(
    "an unknown subcommand is reported with the nearest known one",
    arguments: [
      ("stauts", "unknown command 'stauts'; did you mean 'status'?"),
      ("rm 1", "unknown command 'rm'; see 'transferctl --help'"),
      ("daemon strat", "unknown command 'strat'; did you mean 'start'?"),
      ("daemon bogus --now", "unknown command 'bogus'; see 'transferctl daemon --help'"),
    ])
  func commands(_ line: String, _ expected: String) throws {
    #expect(try Self.message(line) == expected)
  }

  @Test(
    "known options, their values, and words after -- are not reported",
    arguments: [
      "", "add", "add -o a -Jd dir --priority -5 --header X:y --retries=3", "set 1 --priority --5",
      "events --since -5", "upload -0i - --to x", "add -o -weird", "add -- --segment", "help nosuch", "help add",
      "ls --watch", "--generate-completion-script nosh", "add -h", "add --help", "batch ls --format json", "add -",
    ])
  func known(_ line: String) throws {
    #expect(try Self.message(line) == nil)
  }

  @Test("the value of an unknown option is not shown: it may be a secret")
  func secret() throws {
    let message = try #require(try Self.message("add http://h/ --hedaer=Authorization:secret"))
    #expect(message == "unknown option '--hedaer'; did you mean '--header'?")
  }

  @Test(
    "the distance counts insertions, deletions, replacements and swaps of neighbours",
    arguments: [
      ("", "", 0), ("a", "", 1), ("", "ab", 2), ("segment", "segments", 1), ("stauts", "status", 1),
      ("kitten", "sitting", 3), ("ab", "ba", 1), ("abc", "abc", 0),
    ])
  func distance(_ one: String, _ other: String, _ expected: Int) {
    #expect(NearestName.distance(Array(one), Array(other)) == expected)
    #expect(NearestName.distance(Array(other), Array(one)) == expected)
  }
}

import Testing

@testable import TransferEngine

@Suite struct ChildEnvironmentTests {
  @Test("a child process gets the standard variables and those that the configuration names")
  func variables() {
    let all = [
      "PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "LANG": "C", "TZ": "UTC", "TMPDIR": "/t", "USER": "u",
      "LOGNAME": "u",
      "XDG_RUNTIME_DIR": "/run/user/1", "LANGUAGE": "de", "AWS_PROFILE": "p", "TOKEN": "t", "NOTIFY_SOCKET": "/n",
      "WATCHDOG_PID": "1", "LISTEN_PID": "1", "LD_PRELOAD": "x.so",
    ]
    let standard = ChildEnvironment.variables(of: all, passing: [])
    #expect(standard.count == 10 && Set(standard.keys) == ChildEnvironment.standard.union(["LC_ALL"]))
    #expect(standard.allSatisfy { all[$0.key] == $0.value })
    let more = ChildEnvironment.variables(
      of: all, passing: ["AWS_PROFILE", "NOT_SET", "NOTIFY_SOCKET", "WATCHDOG_PID"])
    #expect(Set(more.keys) == Set(standard.keys).union(["AWS_PROFILE"]))
    #expect(ChildEnvironment.variables(of: [:], passing: ["A"]) == [:])
  }

  @Test(
    "invalid names, and variables of the service manager, cannot be passed on",
    arguments: [
      ("AWS_PROFILE", true), ("_x9", true), ("é", false), ("9A", false), ("", false), ("A=B", false), ("A B", false),
      ("NOTIFY_SOCKET", false), ("WATCHDOG_USEC", false), ("LISTEN_FDS", false), ("LISTENER", true),
    ])
  func names(_ name: String, _ isPassable: Bool) {
    #expect(ChildEnvironment.isPassable(name) == isPassable)
  }
}

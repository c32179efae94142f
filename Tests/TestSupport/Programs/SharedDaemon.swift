import Foundation
import Glibc

/// A daemon that runs as a service user and serves a group, and its clients: two members who do not trust each other,
/// root, and a user who is not in the group.
///
/// ```swift
/// @Test(.enabled(if: SharedDaemon.isPossible, "\(SharedDaemon.requirement)"))
/// func test() async throws {
///   let shared = try await SharedDaemon()
///   let id = try await shared.addPaused("a", as: .alice)
///   #expect(try await shared.curl("/v1/jobs/\(id)", as: .bob).status == 404)
/// }
/// ```
public final class SharedDaemon: Sendable {
  /// A client of the daemon; the raw value is the uid, which needs no account.
  public enum Person: UInt32, CaseIterable, Sendable {
    case root = 0
    /// The daemon's user.
    case service = 41_001
    case alice = 41_002
    case bob = 41_003
    /// Not in the socket's group.
    case stranger = 41_004

    public var uid: UInt32 { rawValue }

    /// The `setpriv` command that executes its arguments as this person.
    func wrapper(group: gid_t) throws -> [String] {
      guard self != .root else { return [] }
      let groups = self == .stranger ? "--clear-groups" : "--groups=\(group)"
      return [try BuiltPrograms.system("setpriv"), "--reuid=\(uid)", "--regid=\(uid)", groups]
    }
  }

  /// Only root can become other users.
  public static var isPossible: Bool { geteuid() == 0 }
  /// The reason for skipping a test if `isPossible` is false.
  public static let requirement = "needs root, to control the daemon as several users"

  public let daemon: Daemon
  /// The group of the socket.
  public let group: gid_t

  /// - Parameters:
  ///   - config: the daemon's configuration file, in which `%DIR` is the fixture's directory. By default members may read
  ///     and write in the persons' directories.
  ///   - environment: additional variables of the daemon.
  public init(config: String? = nil, environment: [String: String] = [:]) async throws {
    // Every Debian-based system has this group.
    guard let users = getgrnam("users") else {
      throw TestSupportError.failed(program: "getgrnam", reason: "there is no group \"users\"")
    }
    group = users.pointee.gr_gid
    daemon = try await Daemon(
      // Test servers are on the loopback interface, which jobs of members may use only with this setting.
      environment: ["TRANSFERD_REDIRECTS": "any"].merging(environment) { $1 }
        .merging(["TRANSFERD_SOCKET_GROUP": "users"]) { $1 }.filter { !$0.value.isEmpty }, config: "",
      through: try Person.service.wrapper(group: group), isStarted: false)
    let directory = daemon.directory
    chmod(directory.path, 0o711)
    mkdir(daemon.stateDirectory, 0o700)
    for name in ["run", "home", "downloads", "state"] {
      chown(directory.path(name), Person.service.uid, Person.service.uid)
    }
    chmod(directory.path("run"), 0o711)
    // The daemon writes as its own user, while members keep their files in their own directories.
    chmod(daemon.downloads, 0o755)
    for person in [Person.alice, .bob, .stranger] {
      let own = try directory.directory("\(person)")
      chmod(own, 0o777)
      chown(own, person.uid, person.uid)
    }
    try configure(config ?? Self.defaultConfiguration)
    try await daemon.start()
  }

  private static let defaultConfiguration = """
    transferd:
      memberReadRoots: [%DIR/alice, %DIR/bob, %DIR/stranger, %DIR/downloads]
      memberWriteRoots: [%DIR/alice, %DIR/bob, %DIR/stranger, %DIR/downloads]
    """

  /// Writes the configuration file, which the daemon reads at its start and at SIGHUP.
  public func configure(_ text: String) throws {
    let path = try daemon.directory.file(
      "config.yaml", text: text.replacingOccurrences(of: "%DIR", with: daemon.directory.path))
    chmod(path, 0o644)
  }

  /// A person's directory, in which the daemon may also write.
  public func directory(of person: Person) -> String {
    person == .service || person == .root ? daemon.downloads : daemon.directory.path("\(person)")
  }

  /// Makes a person's file in the person's directory and returns its path.
  @discardableResult
  public func file(_ name: String, _ text: String, of person: Person) throws -> String {
    let path = directory(of: person) + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o644)
    chown(path, person.uid, person.uid)
    return path
  }

  /// Runs any program as a person, in the person's directory.
  public func launch(_ program: String, _ arguments: [String], as person: Person) throws -> Launch {
    let command = try person.wrapper(group: group) + [program] + arguments
    let home = directory(of: person)
    let environment = ["HOME": home, "TRANSFERCTL_NO_AUTOSTART": "1", "TRANSFERCTL_ANSWER_TIMEOUT": "60"]
    return Launch(
      command[0], Array(command.dropFirst()),
      environment: Launch.cleanEnvironment.merging(environment) { $1 }, directory: home)
  }

  /// Runs `transferctl` as a person.
  @discardableResult
  public func ctl(_ arguments: String..., input: Data = Data(), as person: Person) async throws -> ChildProcess.Result {
    var launch = try ctlLaunch(arguments, as: person)
    launch.input = input
    return try await launch.run()
  }

  public func ctlLaunch(_ arguments: [String], as person: Person) throws -> Launch {
    try launch(try BuiltPrograms.publicPath("transferctl"), arguments + ["--socket", daemon.socketPath], as: person)
  }

  /// Adds a paused download and returns its id.
  public func addPaused(_ name: String, _ arguments: String..., as person: Person) async throws -> String {
    let arguments = ["add", "http://127.0.0.1:9/\(name)", "--paused"] + arguments
    let result = try await ctlLaunch(arguments, as: person).runSuccessfully()
    return result.lines.first ?? ""
  }

  /// A response of the control API.
  public struct Answer: Equatable, Sendable {
    public var status: Int
    public var body: String

    public init(status: Int, body: String) {
      self.status = status
      self.body = body
    }

    public var json: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }
    /// The stable code of a problem.
    public var code: String? { json["code"] as? String }
  }

  /// Sends a request to the control API as a person.
  public func curl(
    _ path: String, _ arguments: String..., input: Data = Data(), as person: Person
  ) async throws -> Answer {
    var launch = try curlLaunch(path, ["-w", "\n%{http_code}", "--max-time", "20"] + arguments, as: person)
    launch.input = input
    let text = try await launch.run().stdout
    let end = text.lastIndex(of: "\n") ?? text.startIndex
    return Answer(
      status: Int(text[end...].dropFirst()) ?? 0, body: String(text[..<end]))
  }

  /// Posts a JSON object to the control API as a person.
  public func post(
    _ object: [String: Any], to path: String = "/v1/jobs", as person: Person
  ) async throws -> Answer {
    let body = try JSONSerialization.data(withJSONObject: object)
    return try await curl(path, "--data-binary", "@-", input: body, as: person)
  }

  /// The launch of curl, for streams that do not end.
  public func curlLaunch(_ path: String, _ arguments: [String], as person: Person) throws -> Launch {
    try launch(
      try BuiltPrograms.system("curl"),
      ["-sS", "-N", "-H", "Expect:", "--unix-socket", daemon.socketPath, "http://transferd\(path)"] + arguments,
      as: person)
  }
}

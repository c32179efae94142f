import ArgumentParser
import FoundationEssentials

/// Whose jobs a command is about, for the daemon's own user and root, who reach the jobs of all users.
struct OwnerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only the jobs of this user (a uid), where the daemon serves several.", valueName: "uid"))
  var owner: UInt32?
}

extension ConnectionOptions {
  /// A connection whose every request is about the jobs of one user, if one is named.
  func connection(of options: OwnerOptions) throws -> Connection {
    var connection = try connection()
    guard let owner = options.owner else { return connection }
    let makeTransport = connection.makeTransport
    connection.makeTransport = { OwnerTransport(base: makeTransport($0), owner: owner) }
    return connection
  }
}

/// Adds `owner=UID` to every request.
struct OwnerTransport: ControlTransport {
  let base: any ControlTransport
  let owner: UInt32

  func send(
    _ method: String, _ path: String, body: Data?, contentType: String?
  ) async throws -> (status: Int, body: Data) {
    try await base.send(method, narrowed(path), body: body, contentType: contentType)
  }

  func stream(
    _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    try await base.stream(method, narrowed(path), body: body, contentType: contentType, headers: headers)
  }

  func narrowed(_ path: String) -> String { path + (path.contains("?") ? "&" : "?") + "owner=\(owner)" }
}

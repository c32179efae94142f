import ArgumentParser

/// Limits a command to one owner's jobs. Only the daemon's user and root reach the jobs of all users.
struct OwnerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only the jobs of the user with this uid.", valueName: "uid"))
  var owner: UInt32?
}

extension ConnectionOptions {
  /// A connection whose requests concern the jobs of one owner, if one is named.
  func connection(of options: OwnerOptions) throws -> Connection {
    var connection = try connection()
    guard let owner = options.owner else { return connection }
    let makeTransport = connection.makeTransport
    connection.makeTransport = { OwnerTransport(base: makeTransport($0), owner: owner) }
    return connection
  }
}

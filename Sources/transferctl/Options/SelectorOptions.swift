import ArgumentParser
import TransferAPI

/// `ID…|--batch B|--state S|--all`: exactly one of them.
struct SelectorOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The ids of the jobs.", valueName: "id"))
  var ids: [JobID] = []

  @Option(help: ArgumentHelp("All jobs of this batch.", valueName: "name"))
  var batch: String?

  @Option(help: ArgumentHelp("All jobs in this state.", valueName: "state"))
  var state: JobState?

  @Flag(help: "All jobs.")
  var all = false

  func validate() throws {
    if try selector() == nil { throw ValidationError("Name the jobs: ids, --batch, --state or --all.") }
  }

  /// `nil` if nothing is named.
  func selector() throws -> JobSelector? {
    try Self.single(ids: ids, batch: batch, state: state, all: all)
  }

  static func single(
    ids: [JobID], batch: String?, state: JobState? = nil, all: Bool
  ) throws -> JobSelector? {
    var selectors: [(option: String, selector: JobSelector)] = []
    if !ids.isEmpty { selectors.append(("ids", .ids(unique(ids)))) }
    if let batch { selectors.append(("--batch", .batch(batch))) }
    if let state { selectors.append(("--state", .state(state))) }
    if all { selectors.append(("--all", .all)) }
    guard selectors.count <= 1 else {
      // Not every command has all of these options: only those that were given are named.
      let given = selectors.map(\.option).joined(separator: " and ")
      throw ValidationError("Name the jobs in one way only, not with \(given).")
    }
    if batch?.isEmpty == true { throw ValidationError("--batch is empty.") }
    return selectors.first?.selector
  }

  /// The ids in their order without duplicates.
  static func unique(_ ids: [JobID]) -> [JobID] {
    var seen: Set<JobID> = []
    return ids.filter { seen.insert($0).inserted }
  }
}

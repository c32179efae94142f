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
    var selectors: [JobSelector] = []
    if !ids.isEmpty { selectors.append(.ids(unique(ids))) }
    if let batch { selectors.append(.batch(batch)) }
    if let state { selectors.append(.state(state)) }
    if all { selectors.append(.all) }
    guard selectors.count <= 1 else {
      throw ValidationError("Name the jobs in one way only: ids, --batch, --state or --all.")
    }
    if batch?.isEmpty == true { throw ValidationError("--batch is empty.") }
    return selectors.first
  }

  /// The ids in their order without duplicates.
  static func unique(_ ids: [JobID]) -> [JobID] {
    var seen: Set<JobID> = []
    return ids.filter { seen.insert($0).inserted }
  }
}

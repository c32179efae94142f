import NIOCore
import Store
import TransferAPI

/// Makes jobs from the pieces of a list, and checks them in groups.
struct ListChecker: Sendable {
  private enum Maker: Sendable {
    case downloads(DownloadList)
    case uploads(UploadList)
  }

  /// The longest URL or path, in bytes. Jobs have lower limits for both, which are checked later.
  static let maximumItemBytes = 64 << 10

  private let intake: JobIntake
  private let caller: Caller
  private var maker: Maker
  private var reader: ListReader

  /// - Throws: `Problem` for common options that are wrong for every line.
  init(_ format: BulkFormat, _ options: NewJob, _ intake: JobIntake, _ caller: Caller) async throws(Problem) {
    self.intake = intake
    self.caller = caller
    reader = ListReader(format, maximumItemBytes: Self.maximumItemBytes)
    let validation = await intake.validation(for: caller)
    maker =
      format == .paths
      ? .uploads(try UploadList(options, validation, intake.network, rules: intake.paths.rules(for: caller.uid, .read)))
      : .downloads(try DownloadList(options, validation, intake.network))
  }

  /// Groups of at most `BulkIntake.groupSize` jobs, in the order of their lines.
  mutating func groups(of pieces: [ListCutter.Piece]) async -> [CheckedLines] {
    var items: [ListReader.Item<JobSpec>] = []
    for piece in pieces { items += await self.items(of: piece) }
    var groups: [CheckedLines] = []
    var rest = items[...]
    while !rest.isEmpty {
      let group = rest.prefix(BulkIntake.groupSize)
      rest = rest.dropFirst(group.count)
      groups.append(
        CheckedLines(
          numbers: group.map(\.number), jobs: await intake.checked(group.map(\.result), from: caller),
          weight: group.reduce(0) { $0 + Self.weight(of: $1.result) }))
    }
    return groups
  }

  /// The approximate number of bytes that a line holds in memory until it is stored.
  static func weight(of result: Result<JobSpec, Problem>) -> Int {
    switch result {
    case .success(let spec): 256 + spec.source.utf8.count + spec.destination.utf8.count
    case .failure(let problem): 256 + problem.detail.utf8.count
    }
  }

  private mutating func items(of piece: ListCutter.Piece) async -> [ListReader.Item<JobSpec>] {
    switch maker {
    case .downloads(var list):
      let items = reader.items(of: piece) { list.spec($0) }
      maker = .downloads(list)
      return items
    case .uploads(let list):
      let paths = reader.items(of: piece) { bytes -> Result<String, Problem> in
        String(validating: bytes, as: UTF8.self).map { .success($0) }
          ?? .failure(Problem(.invalid, "the path is not valid UTF-8"))
      }
      // Properties of the files may be read.
      return await BlockingWork.run {
        paths.map { ListReader.Item(number: $0.number, result: $0.result.flatMap(list.spec)) }
      }
    }
  }
}

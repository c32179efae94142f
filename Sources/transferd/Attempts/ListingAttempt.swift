import FoundationEssentials
import Store
import Synchronization
import TransferAPI
import TransferEngine
import WireValues

/// How an attempt of a listing has ended.
struct ListingResponse: Sendable {
  var error: TransferError?
  /// All that the listing has found, of the directories that it has done.
  var sums = ListingSums()
  /// Directories that this attempt has done.
  var directoriesDone = 0
  /// Directories that could not be listed.
  var directoriesFailed = 0

  /// For people.
  var summary: String {
    var text = "\(Self.count(sums.files, "file")) in \(Self.count(sums.directories, "directory"))"
    if sums.refused > 0 { text += "; \(Self.count(sums.refused, "entry")) refused" }
    return text
  }

  private static func count(_ number: Int, _ noun: String) -> String {
    if number == 1 { return "1 \(noun)" }
    return "\(number) " + (noun.hasSuffix("y") ? noun.dropLast() + "ies" : noun + "s")
  }
}

/// One attempt of a listing: lists the directories that are not done, one after the other, and adds a download for each file.
///
/// A directory that cannot be listed for good does not keep the others from being listed; the attempt then fails with the first
/// failure. A failure that may pass ends the attempt, and the next one begins with that directory.
struct ListingAttempt: Sendable {
  let record: JobRecord
  let store: Store
  let lister: DirectoryLister
  let filter: PathFilter
  /// Called with the jobs that were added.
  let added: @Sendable ([Submission], _ haveTimes: Bool) async -> Void

  let budget: EntryBudget

  private var spec: JobSpec { record.spec }

  func run() async -> ListingResponse {
    var response = ListingResponse()
    do {
      try await list(&response)
    } catch let error as TransferError {
      response.error = error
    } catch is CancellationError {
      response.error = .cancelled
    } catch {
      response.error = .hook(.journal, error)
    }
    if Task.isCancelled { response.error = .cancelled }
    response.sums = (try? await store.listingSums(of: record.job.id)) ?? ListingSums()
    return response
  }

  private func list(_ response: inout ListingResponse) async throws {
    let root = try RequestURL(allowingS3: spec.url)
    var last: Int64 = 0
    var failure: TransferError?
    let earlier = try await store.listingSums(of: record.job.id)
    try budget.spend(earlier.files.saturatingSum(earlier.refused).saturatingSum(earlier.directories))
    while let directory = try await store.nextDirectory(of: record.job.id, fence: record.fence, after: last) {
      guard !Task.isCancelled else { throw TransferError.cancelled }
      do {
        try await list(directory, below: root)
        response.directoriesDone = response.directoriesDone.saturatingSum(1)
      } catch let error as TransferError
        where !error.isTransient && !error.isCancellation && !error.endsListing && !budget.isSpent
      {
        failure = failure ?? error
        response.directoriesFailed = response.directoriesFailed.saturatingSum(1)
      }
      last = directory.id
    }
    if let failure { throw failure }
  }

  private func list(_ directory: ListingDirectory, below root: RequestURL) async throws {
    let url = directory.path.isEmpty ? root : try Self.url(of: directory.path, below: root)
    var page = directory.page
    repeat {
      let counter = EntryCounter()
      let part = try await lister.list(url, page: page, isFlat: spec.options.listing.maxDepth == nil) { entries in
        try await keep(entries, of: directory, counter)
      }
      guard !Task.isCancelled else { throw TransferError.cancelled }
      counter.add(files: 0, refused: part.refused)
      // A server that names the same page again would be asked for ever.
      let next = part.next == page ? nil : part.next
      try await keep(part.entries, of: directory, counter, endsPage: true, next: next)
      page = next
      // Pages without entries must end, too.
      try budget.spend(1)
    } while page != nil
  }

  /// Stores entries, and with `endsPage` that they are the last ones of a page.
  private func keep(
    _ entries: [DirectoryEntry], of directory: ListingDirectory, _ counter: EntryCounter, endsPage: Bool = false,
    next: String? = nil
  ) async throws {
    try budget.spend(entries.count)
    var step = ListingStep(job: record.job.id, fence: record.fence, directory: directory.id)
    var refused = 0
    for entry in entries {
      let path = directory.path.isEmpty ? entry.path : "\(directory.path)/\(entry.path)"
      switch place(of: entry, at: path) {
      case .file(let file): step.files.append(file)
      case .directory: step.directories.append(path)
      case .unwanted: break
      case .refused: refused = refused.saturatingSum(1)
      }
    }
    counter.add(files: step.files.count, refused: refused)
    if endsPage {
      let counts = counter.counts
      step.end = .init(page: next, files: counts.files, refused: counts.refused)
    }
    guard !step.files.isEmpty || !step.directories.isEmpty || step.end != nil else { return }
    let stored = try await store.store(step, at: Date())
    // The store counts those of the last part itself.
    counter.add(files: -stored.taken, refused: stored.taken)
    if !stored.added.isEmpty {
      let schedule = spec.options.schedule
      await added(
        stored.added, schedule.notBefore != nil || schedule.deadline != nil || schedule.window != nil)
    }
  }

  private enum Place {
    case file(JobSpec)
    case directory
    case unwanted
    case refused
  }

  private func place(of entry: DirectoryEntry, at path: String) -> Place {
    let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
    let options = spec.options.listing
    if entry.isDirectory {
      // A directory has the depth of its files.
      guard depth < options.maxDepth ?? Int.max, filter.wantsDirectory(path) else { return .unwanted }
      let isUsable = depth < JobOptions.Listing.deepest && path.utf8.count <= Self.maximumPathBytes
      return isUsable ? .directory : .refused
    }
    guard depth <= options.maxDepth ?? Int.max, filter.wantsFile(path) else { return .unwanted }
    guard let file = download(of: entry.url, at: path) else { return .refused }
    return .file(file)
  }

  /// - Returns: `nil` for a path that is too long.
  private func download(of url: RequestURL, at path: String) -> JobSpec? {
    let destination = spec.destination.appendingName(path)
    guard destination.utf8.count <= Self.maximumPathBytes, url.string.utf8.count <= Self.maximumURLBytes else {
      return nil
    }
    var file = JobSpec(
      owner: spec.owner, url: url.string, origin: spec.origin, destination: destination, credentials: spec.credentials)
    file.options = spec.options.ofListedFiles
    (file.batch, file.priority, file.listing) = (spec.batch, spec.priority, record.job.id)
    return file
  }

  private static let maximumPathBytes = 4000
  private static let maximumURLBytes = 32 * 1024

  private static func url(of path: String, below root: RequestURL) throws(TransferError) -> RequestURL {
    try root.directory(at: path)
  }
}

/// Counts the entries of one page, for the closures that store them.
private final class EntryCounter: Sendable {
  private let state = Mutex((files: 0, refused: 0))
  var counts: (files: Int, refused: Int) { state.withLock { $0 } }

  func add(files: Int, refused: Int) {
    state.withLock { $0 = ($0.files.saturatingSum(files), $0.refused.saturatingSum(refused)) }
  }
}

extension TransferError {
  /// Whether no other directory can be listed after this failure of one.
  fileprivate var endsListing: Bool {
    switch self {
    case .hook, .serverTrust, .upload(.credentials), .remote(.loginDenied), .unsupportedScheme: true
    case .response(.unacceptableStatus(401, _)): true
    default: false
    }
  }
}

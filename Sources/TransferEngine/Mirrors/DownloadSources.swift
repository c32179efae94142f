import HTTPTypes
import Synchronization
import WireValues

/// The places from which one download fetches its file: its own, and mirrors. Knows which of them are of use, and why others
/// are not. One object for one download request; its reports may be read at any time.
///
/// Sources are named by numbers: 0 is the request's own URL, 1 and more are the mirrors in their order.
public final class DownloadSources: Sendable {
  /// More mirrors are not used.
  public static let maximumCount = 64
  /// A source whose connections break this often without bringing anything is dropped.
  static let maximumFailures = 3
  /// A source that has had a part in this many wrong pieces is dropped, even if each had bytes of others, too.
  static let maximumStrikes = 2

  /// Digests of the file's pieces; a piece that is wrong is fetched again.
  public let pieces: PieceDigests?
  /// The file's length in bytes; a source with another one is dropped. `nil`: unknown.
  public let size: Int64?
  private let mirrors: [DownloadSource]
  private let describe: (@Sendable (RequestURL) -> DownloadSource?)?
  private let state = Mutex(State())

  /// Why a source is not asked any more.
  struct Drop: Sendable {
    var reason: String
    /// What the download fails with if no source is left.
    var error: TransferError?
    /// Its bytes differ from those of another source, which may be the wrong one.
    var isDisagreement = false
  }

  private struct Entry {
    var source: DownloadSource
    var drop: Drop?
    var connections = 0
    var limit = Int.max
    var failures = 0
    var strikes = 0
    var received: Int64 = 0
    var busySince: ContinuousClock.Instant?
    var busy = Duration.zero

    /// Seconds in which it was asked for bytes.
    var seconds: Double { (busy + (busySince.map { $0.duration(to: .now) } ?? .zero)) / .seconds(1) }
    /// `nil` while unknown.
    var rate: Double? {
      // checked: floating point, of half a second or more
      seconds >= 0.5 && received > 0 ? Double(received) / seconds : nil
    }
  }

  private struct State {
    var entries: [Entry] = []
    /// Only the source of the download's first connection is used.
    var isIsolated = false
    var observer: (@Sendable (Int) -> Void)?
  }

  /// - Parameters:
  ///   - mirrors: in the order in which they are preferred.
  ///   - size: the file's length.
  ///   - pieces: the digests of its pieces.
  ///   - describe: makes a source of a URL that the download's own server has named (RFC 6249); `nil`: it is not used. Without
  ///     this such URLs are not read.
  public init(
    mirrors: [DownloadSource] = [], size: Int64? = nil, pieces: PieceDigests? = nil,
    describing describe: (@Sendable (RequestURL) -> DownloadSource?)? = nil
  ) {
    self.mirrors = Array(mirrors.prefix(Self.maximumCount))
    self.size = size
    self.pieces = pieces
    self.describe = describe
  }

  /// What is known of each source, the request's own first. Empty before the first attempt.
  public var reports: [SourceReport] {
    state.withLock { state in
      state.entries.map { entry in
        SourceReport(
          url: entry.source.request.url,
          state: entry.drop != nil
            ? .dropped : entry.connections > 0 ? .active : entry.busy > .zero || entry.received > 0 ? .used : .unused,
          reason: entry.drop?.reason, bytesReceived: entry.received,
          bytesPerSecond: CheckedNumber(rounding: entry.rate ?? 0).value ?? .max)
      }
    }
  }

  // MARK: For the pipeline

  /// The number of sources; 0 before the first attempt.
  var count: Int { state.withLock { $0.entries.count } }

  /// An attempt begins: every source counts as usable again.
  func begin(_ own: DownloadSource) {
    state.withLock { state in
      if state.entries.isEmpty { state.entries = ([own] + mirrors).map { Entry(source: $0) } }
      state.entries[0].source = own
      for index in state.entries.indices {
        state.entries[index].drop = nil
        (state.entries[index].connections, state.entries[index].limit) = (0, .max)
        (state.entries[index].failures, state.entries[index].strikes) = (0, 0)
        Self.pause(&state.entries[index])
      }
      state.isIsolated = false
    }
  }

  func source(_ id: Int) -> DownloadSource { state.withLock { $0.entries[id].source } }

  /// The source of the first connection: the first one that is not dropped.
  var lead: Int? { state.withLock { state in state.entries.firstIndex { $0.drop == nil } } }

  func drop(of id: Int) -> Drop? { state.withLock { $0.entries.indices.contains(id) ? $0.entries[id].drop : nil } }

  /// The source is not asked any more in this attempt. The first reason stays.
  func drop(_ id: Int, _ drop: Drop) {
    let observer = state.withLock { state -> (@Sendable (Int) -> Void)? in
      guard state.entries.indices.contains(id), state.entries[id].drop == nil else { return nil }
      state.entries[id].drop = drop
      Self.pause(&state.entries[id])
      return state.observer
    }
    observer?(id)
  }

  /// Calls this with each source that is dropped from now on.
  func observe(_ observer: @escaping @Sendable (Int) -> Void) { state.withLock { $0.observer = observer } }

  /// The source that others disagreed with is dropped: they may be right.
  /// - Returns: whether there are such sources.
  @discardableResult
  func reviveDisagreeing() -> Bool {
    state.withLock { state in
      var hasFound = false
      for index in state.entries.indices where state.entries[index].drop?.isDisagreement == true {
        state.entries[index].drop = nil
        hasFound = true
      }
      return hasFound
    }
  }

  /// From now on only the source of the first connection is used, so that its bytes alone are judged.
  func isolate() { state.withLock { $0.isIsolated = true } }
  var isIsolated: Bool { state.withLock { $0.isIsolated } }

  /// The source has had a part in a wrong piece.
  /// - Returns: whether that was once too often.
  func strike(_ id: Int) -> Bool {
    state.withLock { state in
      guard state.entries.indices.contains(id) else { return false }
      state.entries[id].strikes += 1  // checked: at most a few
      return state.entries[id].strikes >= Self.maximumStrikes
    }
  }

  // MARK: For connections

  /// A connection begins, or ends.
  func connect(_ id: Int) {
    state.withLock { state in
      guard state.entries.indices.contains(id) else { return }
      state.entries[id].connections += 1  // checked: counts connections
      if state.entries[id].busySince == nil { state.entries[id].busySince = .now }
    }
  }

  func disconnect(_ id: Int) {
    state.withLock { state in
      guard state.entries.indices.contains(id), state.entries[id].connections > 0 else { return }
      state.entries[id].connections -= 1  // checked: it is positive
      if state.entries[id].connections == 0 { Self.pause(&state.entries[id]) }
    }
  }

  private static func pause(_ entry: inout Entry) {
    guard let since = entry.busySince else { return }
    entry.busy += since.duration(to: .now)
    entry.busySince = nil
  }

  func receive(_ bytes: Int64, from id: Int) {
    state.withLock { state in
      guard state.entries.indices.contains(id) else { return }
      state.entries[id].received = state.entries[id].received.saturatingSum(bytes)
    }
  }

  /// A connection broke.
  /// - Parameter hasReceived: whether it had brought a good deal before.
  /// - Returns: whether the source has to be dropped.
  func fail(_ id: Int, hasReceived: Bool) -> Bool {
    state.withLock { state in
      guard state.entries.indices.contains(id) else { return true }
      // checked: at most the maximum
      state.entries[id].failures = hasReceived ? 0 : state.entries[id].failures + 1
      return state.entries[id].failures >= Self.maximumFailures
    }
  }

  /// The server takes no more connections than it has.
  /// - Returns: false if it has none, so that nothing can be expected of it.
  func limit(_ id: Int) -> Bool {
    state.withLock { state in
      state.entries[id].limit = state.entries[id].connections
      return state.entries[id].connections > 0
    }
  }

  func connections(_ id: Int) -> Int { state.withLock { $0.entries[id].connections } }

  /// Bytes a second of one connection with the source; `nil` while unknown.
  func rate(_ id: Int) -> Double? {
    state.withLock { state in
      state.entries[id].rate.map { $0 / Double(max(1, state.entries[id].connections)) }
    }
  }

  /// Whether a source other than this one may be of use.
  func hasOthers(than id: Int) -> Bool {
    state.withLock { state in
      !state.isIsolated && state.entries.indices.contains { $0 != id && state.entries[$0].drop == nil }
    }
  }

  /// How many sources may be of use.
  var usable: Int { state.withLock { state in state.isIsolated ? 1 : state.entries.count { $0.drop == nil } } }

  /// The source for one more connection: one with the fewest connections; of these one that is known to be fast, then one that
  /// is unknown, then a slow one; of these the first.
  /// - Parameters:
  ///   - excluded: sources that cannot have one now.
  ///   - lead: the source of the first connection.
  func next(excluding excluded: Set<Int>, lead: Int) -> Int? {
    state.withLock { state in
      let facts = state.entries.indices.compactMap { id -> SourceChoice.Candidate? in
        let entry = state.entries[id]
        guard entry.drop == nil, !excluded.contains(id), entry.connections < entry.limit,
          !state.isIsolated || id == lead
        else { return nil }
        return .init(id: id, connections: entry.connections, rate: entry.rate)
      }
      return SourceChoice.best(of: facts)
    }
  }
}

// MARK: - Sources that a server names

extension DownloadSources {
  /// Adds the duplicates that the head names. Only for a file whose digest is known, because nothing else proves that their
  /// bytes are the same.
  /// - Parameter request: the download's own.
  func discover(in head: ResponseHead, of request: TransferRequest, _ policy: RedirectPolicy) {
    guard let describe, !isIsolated else { return }
    for text in DuplicateLinks(of: head).urls {
      guard let url = try? RequestURL(text), url.isHTTP, url.credentials == nil else { continue }
      // As with a redirect.
      guard url.scheme == "https" || request.url.scheme != "https" else { continue }
      guard policy != .sameOrigin || url.origin == request.url.origin else { continue }
      guard var source = describe(url) else { continue }
      source.request.isNamedByServer = true
      state.withLock { state in
        // checked: counts sources
        guard !state.entries.isEmpty, state.entries.count <= Self.maximumCount,
          !state.entries.contains(where: { $0.source.request.url == url })
        else { return }
        state.entries.append(Entry(source: source))
      }
    }
  }
}

/// Which source gets one more connection. Pure.
enum SourceChoice {
  struct Candidate: Equatable, Sendable {
    var id: Int
    var connections: Int
    /// Bytes a second; `nil`: unknown.
    var rate: Double?
  }

  static func best(of candidates: [Candidate]) -> Int? {
    let fastest = candidates.compactMap(\.rate).max() ?? 0
    func rank(_ candidate: Candidate) -> (Int, Int, Double, Int) {
      let kind = candidate.rate.map { $0 >= fastest / 2 ? 0 : 2 } ?? 1
      return (candidate.connections, kind, -(candidate.rate ?? 0), candidate.id)
    }
    return candidates.min { rank($0) < rank($1) }?.id
  }
}

import FoundationEssentials
import HTTPTypes

/// What a download has to do, fixed before its first attempt. A value.
struct DownloadPlan: Sendable {
  var request: TransferRequest
  /// Where the file goes; if there is a `chooser`, only a suggestion for it.
  var destination: DownloadDestination
  var options: DownloadOptions
  /// Chooses the destination when the head has arrived.
  var chooser: DownloadRequest.Destination?
  /// The part file's name in the destination's directory.
  var partialName: String
  var expectedDigests: [ExpectedDigest]
  var journal: (any DownloadJournal)?
  /// Where the file may go; checked on the open directory in each attempt.
  var rules = PathRules.none
  /// How many connections may fetch the file.
  var segmentation = Segmentation()
  /// From where the file can be fetched.
  var sources = DownloadSources()
  /// The source that is asked first, by its number in `sources`; `request` is its request.
  var lead = 0
  /// Whose bytes are on disk.
  var continuity = Continuity.sameSource
  /// Pieces on disk whose digest is right.
  var goodPieces: Set<Int> = []

  /// Whether several connections may fetch this file: its length is worth it, the server does not refuse ranges, and each
  /// response can be recognised as a part of the same version, or a digest decides in the end.
  func mayShareWork(_ data: ResumeData, total: Int64, _ head: ResponseHead?) -> Bool {
    // The limit of a request is for each of its transfers.
    let hasMirrors = sources.count > 1 && !sources.isIsolated
    guard segmentation.policy.mayUse(forTotal: total, hasMirrors: hasMirrors), request.limitRate == nil else {
      return false
    }
    let servesRanges = data.refusals == 0 && head?.headers[.acceptRanges]?.lowercased() != "none"
    guard servesRanges || hasMirrors else { return false }
    return !data.validators.conditions.isEmpty || hasDigest(data)
  }

  /// What checks the pieces of a file of this length; `nil` if it has none.
  func pieceCheck(total: Int64) -> PieceCheck? {
    guard let pieces = sources.pieces, pieces.cover(total) else { return nil }
    var check = PieceCheck(pieces, total: total)
    check.trust(goodPieces)
    return check
  }

  /// Why a file of this length is not the wanted one; `nil`: it may be.
  /// - Parameter stored: the length of the file whose bytes are on disk.
  func refusal(ofTotal total: Int64?, stored: Int64?) -> TransferError? {
    guard let total else { return nil }
    if let size = sources.size, size != total { return .verification(.length(expected: size, actual: total)) }
    if let pieces = sources.pieces, !pieces.cover(total) {
      return .verification(.length(expected: pieces.largestTotal, actual: total))
    }
    guard continuity == .byContent, let stored, stored != total else { return nil }
    return .verification(.length(expected: stored, actual: total))
  }

  /// Whether something tells in the end that the bytes of several connections or sources belong together.
  func hasDigest(_ data: ResumeData?) -> Bool {
    !expectedDigests.isEmpty || sources.pieces != nil || !(data?.declaredDigests.isEmpty ?? true)
  }

  /// The file's destination, when its head has arrived; the head is `nil` for protocols without one.
  /// - Parameters:
  ///   - directory: the destination's; if a chooser decides, the part file's.
  ///   - existing: what was decided about the entry with the name.
  /// - Throws: `.destinationExists` if the name is taken and may not be replaced.
  func target(
    for head: ResponseHead?, in directory: Directory?, _ existing: ExistingFileDecision?
  ) throws(TransferError) -> DownloadTarget {
    let name = name(for: head)
    if let chooser { return try DownloadTarget(chooser(name, head), rules) }
    guard let directory else { throw .file(.directoryMissing(destination.directory)) }
    return try DownloadTarget(
      directory: directory, name: name, options: options, existing?.replacement ?? standardReplacement)
  }

  /// The file's name; with a chooser, the one that is suggested to it.
  func name(for head: ResponseHead?) -> String {
    // The first one: a field that stands twice would be joined, and its name would end with a part of the second.
    let suggestion =
      chooser != nil || destination.isNamedByResponse
      ? head?.headers[values: .contentDisposition].first.flatMap(SafeFileName.init(contentDisposition:))?.string : nil
    return suggestion ?? destination.name
  }

  /// Whether an encoded body has to be decoded. The request asked for identity, so an encoding is meant as compression
  /// for the transport, unless the file itself has that format, such as a `.tar.gz` that is served with
  /// `Content-Encoding: gzip`. `nil` for unknown codings: the bytes are kept as they arrive.
  func mustDecode(_ coding: String, _ head: ResponseHead) -> Bool? {
    let decodable = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    guard decodable.contains(coding) else { return nil }
    let type = head.headers[.contentType]?.lowercased() ?? ""
    let path = request.url.path.lowercased()
    let isArchive =
      [".gz", ".tgz", ".br", ".zst"].contains { path.hasSuffix($0) }
      || ["application/gzip", "application/x-gzip", "application/x-tgz", "application/zstd"]
        .contains { type.hasPrefix($0) }
    return isArchive ? nil : true
  }

  // MARK: The directory

  /// Opens the destination's directory and creates missing ones if the options say so, durably. Not for a download whose
  /// destination is chosen later. Blocks.
  func openDirectory() throws(TransferError) -> Directory {
    try Directory.open(
      destination.directory, creating: options.contains(.createIntermediateDirectories), rules: rules)
  }

  /// - Throws: `.diskFull` if the file system of a directory has less than ``DownloadDestination/minimumFree``. Blocks.
  func checkFree(in directories: [Directory]) throws(TransferError) {
    let least = destination.minimumFree
    guard least > 0 else { return }
    for directory in directories {
      guard let free = directory.freeBytes, free < least else { continue }
      throw .file(.diskFull("\(directory.path) has \(free) bytes free, and \(least) have to stay free"))
    }
  }

  /// Opens the part file's directory; `nil` if that is the destination's. Blocks.
  func openPartDirectory() throws(TransferError) -> Directory? {
    guard chooser == nil, let path = destination.partDirectory else { return nil }
    return try Directory.open(path, rules: rules)
  }

  /// Checks the name, if it is known before the response, by the rules.
  func checkRules(in directory: Directory) throws(TransferError) {
    guard !destination.isNamedByResponse else { return }
    try rules.checkName(destination.name, in: directory.identity, as: directory.path(of: destination.name))
  }

  /// What happens if the destination exists.
  var rule: ExistingFileRule { options.contains(.removePreviousFile) ? .replace : destination.existing }

  /// How the file gets its name if nothing is known about the entry with that name.
  var standardReplacement: Replacement { ExistingFileDecision.standardReplacement(rule) }

  /// Decides about the entry that has the file's name. Blocks.
  /// - Returns: `nil` if the response gives the name.
  /// - Throws: `.destinationExists` if the name is taken and may not be replaced.
  func examine(_ directory: Directory) throws(TransferError) -> ExistingFileDecision? {
    guard chooser == nil, !destination.isNamedByResponse else { return nil }
    return try examine(destination.name, in: directory)
  }

  /// The same for a name from the response.
  func examine(_ name: String, in directory: Directory) throws(TransferError) -> ExistingFileDecision {
    let decision = ExistingFileDecision(rule, destination.knownVersions, directory.entry(name))
    if decision == .fail { throw .file(.destinationExists(directory.path(of: name))) }
    return decision
  }

  /// Notes what will be known of a whole file when it has its name, if that matters. Called before its bytes are synced.
  func note(_ part: PartialFile, _ validators: Validators, in data: inout ResumeData) {
    guard destination.knownVersions != nil else { return }
    data.record = part.record(destination.attributes, validators).map { $0.encoded() }
  }

  /// The first record of a new part file.
  func resumeData(
    of part: PartialFile, for target: DownloadTarget, _ validators: Validators, _ declared: [ExpectedDigest],
    total: Int64?
  ) -> ResumeData {
    var data = ResumeData(
      url: request.url.withoutQuery, validators: validators, totalBytes: total, declaredDigests: declared,
      partialFile: .init(
        directory: part.directory.path, name: part.name, identity: part.identity, finalName: target.name),
      checkpointBytes: 0, bootID: BootID.current)
    if part.directory != target.directory { data.landing = .init(directory: target.directory.path) }
    if !target.options.isEmpty { data.options = target.options }
    return data
  }
}

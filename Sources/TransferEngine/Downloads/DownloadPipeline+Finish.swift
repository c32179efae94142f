import FoundationEssentials
import Glibc
import HTTPTypes
import WireValues

/// The steps from the last byte to the file's name. Each is durable before the next begins, so that the state on disk
/// shows where a crash happened.
extension DownloadPipeline {
  func finish(_ context: inout AttemptContext) async throws(TransferError) -> String {
    guard let part = context.part else { throw .connection(.broken("no response")) }
    try await verify(&context, part)
    try validate(&context, part)
    var data = try await syncToDisk(&context, part)
    let target = context.target
    let replacement =
      target?.replacement ?? context.existing?.replacement
      ?? (plan.chooser != nil && data.options?.contains(.removePreviousFile) == true
        ? .always : plan.standardReplacement)
    let directory = target?.directory ?? context.directories?.destination ?? part.directory
    let name = data.partialFile.finalName
    let (rules, attributes) = (plan.rules, plan.destination.attributes)
    let validators = context.bodyHead.map { Validators(of: $0) } ?? data.validators
    let landed = LandedName(name)
    func land(_ file: PartialFile) async throws(TransferError) {
      do throws(TransferError) {
        try await DirectorySync.shared.perform(in: directory) { () throws(TransferError) in
          // The name may have come from the response.
          try rules.check(directory.descriptor, name, as: directory.path(of: name))
          part.directory.remove(PieceMap.name(of: part.name))
          landed.name = try file.land(as: name, in: directory, replacement, attributes, validators)
        }
      } catch {
        // The next attempt has to find the file if only the directory could not be synced.
        context.resumeData?.partialFile.finalName = landed.name
        throw error
      }
    }
    var file = part
    do throws(TransferError) {
      try await land(part)
    } catch .file(.io(_, EXDEV)) where part.directory != directory {
      let copy = try await copy(part, to: directory, &data)
      plan.note(copy, validators, in: &data)
      context.resumeData = data
      try await willRename(data)
      try await land(copy)
      await removeCopied(part)
      file = copy
    }
    context.version = file.version
    context.part = nil
    return directory.path(of: landed.name)
  }

  private func willRename(_ data: ResumeData) async throws(TransferError) {
    guard let journal = plan.journal else { return }
    do {
      try await journal.willRename(data)
    } catch {
      throw .hook(.journal, error)
    }
  }

  /// Runs the user's validations of the whole file. A file that they refuse cannot be resumed.
  private func validate(_ context: inout AttemptContext, _ part: PartialFile) throws(TransferError) {
    guard let request = context.request, let head = context.bodyHead else { return }
    let validations = core.validations.compactMap { if case .file(let validation) = $0 { validation } else { nil } }
    for validation in validations {
      guard case .failure(let error) = validation(request, head, URL(fileURLWithPath: part.path)) else { continue }
      context.resumeData = nil
      let refusal = TransferError.of(.validation, error)
      core.record.notify(.validate(refusal))
      throw refusal
    }
    if !validations.isEmpty { core.record.notify(.validate(nil)) }
  }

  /// Completes a download whose last attempt renamed the file but could not sync the directory. One more sync is
  /// enough: file systems journal names, and a file system whose journal failed accepts no further changes. Names are
  /// not lost silently as the pages of a file can be.
  func finishNamed(_ context: inout AttemptContext, _ directory: Directory, size: Int64) async throws(TransferError)
    -> String
  {
    guard let location = context.resumeData?.partialFile else { throw .connection(.broken("no response")) }
    context.resumedFrom = size
    context.onDisk = size
    context.total = size
    context.verification = plan.expectedDigests.isEmpty ? .length : .digest
    context.version = directory.version(of: location.finalName)
    try await DirectorySync.shared.perform(in: directory) { () throws(TransferError) in
      // If a link and an unlink replaced the rename, the old name may still exist.
      if directory.size(of: location.name, expecting: location.identity) != nil { directory.remove(location.name) }
    }
    if let other = try? plan.openPartDirectory() {
      await BlockingIO.value {
        other.removePart(location.name)
        try? other.synchronize()
      }
    }
    return directory.path(of: location.finalName)
  }

  /// Checks length and digests. A wrong digest makes the part file useless: it cannot be resumed.
  private func verify(_ context: inout AttemptContext, _ part: PartialFile) async throws(TransferError) {
    let size = part.size
    if let total = context.total, size != total {
      throw .verification(.length(expected: total, actual: size))
    }
    context.verification = context.total != nil ? .length : .none
    try await checkPieces(&context, part, size)
    if plan.sources.pieces != nil { context.verification = .digest }
    let expected = plan.expectedDigests + (context.resumeData?.declaredDigests ?? declaredByHead(context))
    guard !expected.isEmpty else {
      if context.total == nil, let head = context.head, !head.isSelfDelimiting, head.contentCoding == nil {
        try await compareWithHead(&context, size)
      } else if context.total == nil, context.head?.isSelfDelimiting == true {
        context.verification = .length
      }
      return
    }
    let actual: [DigestAlgorithm: String]
    if let digests = context.digests, context.resumedFrom == 0 {
      actual = digests
    } else {
      let algorithms = Set(expected.map(\.algorithm))
      actual = try await BlockingIO.run { () throws(TransferError) in try part.digests(algorithms) }
    }
    do throws(TransferError) {
      try Self.compare(actual, with: expected)
    } catch {
      context.resumeData = nil
      throw error
    }
    context.verification = .digest
  }

  /// - Throws: `.verification(.digest)` for the first digest that differs.
  static func compare(
    _ actual: [DigestAlgorithm: String], with expected: [ExpectedDigest]
  ) throws(TransferError) {
    for digest in expected where actual[digest.algorithm] != digest.hex {
      throw .verification(
        .digest(
          algorithm: digest.algorithm.rawValue, expected: digest.hex, actual: actual[digest.algorithm] ?? "unknown"))
    }
  }

  private func declaredByHead(_ context: AttemptContext) -> [ExpectedDigest] {
    context.head.map(DeclaredDigests.of) ?? []
  }

  /// Asks the server for the file's length. The body ended with the connection, or with the stream of HTTP/2, which
  /// looks the same as a broken one. If the server does not report the length of this version, the file stays
  /// unverified, unless TLS says that the connection was cut off.
  private func compareWithHead(_ context: inout AttemptContext, _ size: Int64) async throws(TransferError) {
    let version = context.bodyHead.map { Validators(of: $0) } ?? Validators()
    var answer = try await answerToHead(context)
    if let other = answer?.version, version.contradict(other) { answer = nil }
    if let answer, answer.length == size {
      context.total = size
      context.verification = .length
      return
    }
    // A shorter length is no sign of a broken connection: servers that make their answers may report 0, or the length
    // of another answer.
    if let answer, answer.length > size {
      var isCutOff = version.agreeStrongly(with: answer.version)
      // A page that is made for each request may be longer in the next answer, but hardly in two by as much.
      if !isCutOff { isCutOff = try await answerToHead(context)?.length == answer.length }
      if isCutOff { throw .response(.truncated(received: size, expected: answer.length)) }
    }
    if context.isEndMissing { throw .response(.truncated(received: size, expected: nil)) }
  }

  /// - Returns: the length and the version of the whole file; `nil` if the server does not report the length.
  private func answerToHead(
    _ context: AttemptContext
  ) async throws(TransferError) -> (length: Int64, version: Validators)? {
    // Certificates, secrets and the URL may come from adapters. A redirect's target may be signed for GET alone.
    guard var request = context.adapted, request.url.isHTTP, request.method == .get else { return nil }
    (request.headers[.range], request.headers[.ifRange]) = (nil, nil)
    request.method = .head
    request.headers[.acceptEncoding] = "identity"
    let response = await session.exchange(request)
    if Task.isCancelled { throw .cancelled }
    guard response.error == nil, let head = response.head, head.status == 200, head.contentCoding == nil,
      let length = try? head.contentLength()
    else { return nil }
    return (length, Validators(of: head))
  }

  private func syncToDisk(_ context: inout AttemptContext, _ part: PartialFile) async throws(TransferError)
    -> ResumeData
  {
    let size = part.size
    var data =
      context.resumeData
      ?? ResumeData(
        url: plan.request.url.withoutQuery, validators: Validators(), totalBytes: size,
        partialFile: .init(
          directory: part.directory.path, name: part.name, identity: part.identity,
          finalName: plan.destination.name),
        checkpointBytes: size, bootID: BootID.current)
    if let directories = context.directories { data.landing = .init(directory: directories.destination.path) }
    // An encoded body has no validators for a range, but its response has some.
    let validators = data.validators == Validators() ? context.bodyHead.map { Validators(of: $0) } : nil
    plan.note(part, validators ?? data.validators, in: &data)
    do throws(TransferError) {
      try await BlockingIO.value { FileSync.synchronize([(part, part.size)])[0] }.get()
    } catch {
      // After a failed fsync the pages may be lost, even if a second fsync succeeds.
      context.resumeData = nil
      throw error
    }
    if let target = context.target { data.partialFile.finalName = target.name }
    data.landing?.copy = nil
    data.complete(size)
    context.resumeData = data
    context.total = size
    try await willRename(data)
    return data
  }
}

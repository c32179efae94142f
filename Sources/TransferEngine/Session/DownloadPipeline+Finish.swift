import FoundationEssentials
import HTTPTypes

/// From the last byte to the file's name: each step durable before the next, so that a crash between any two of them can
/// be told from what is on the disk.
extension DownloadPipeline {
  func finish(_ course: inout Course) async throws(TransferError) -> String {
    guard let part = course.part else { throw .connection(.broken("no answer")) }
    try await verify(&course, part)
    try validate(&course, part)
    let data = try await bringToDisk(&course, part)
    let target = course.target
    let options = target?.options ?? (plan.chooser == nil ? plan.options : data.options ?? [])
    let directory = target?.directory ?? part.directory
    let name = data.partialFile.finalName
    let rules = plan.rules
    try await DirectorySync.shared.perform(in: directory) { () throws(TransferError) in
      // The name may have come from the response.
      try rules.check(directory.descriptor, name, as: directory.path(of: name))
      try part.rename(to: name, in: directory, replacing: options.contains(.removePreviousFile))
    }
    course.part = nil
    return directory.path + (directory.path == "/" ? "" : "/") + name
  }

  /// A whole file that its user refuses is nothing to go on from.
  private func validate(_ course: inout Course, _ part: PartialFile) throws(TransferError) {
    guard let request = course.request, let head = course.bodyHead else { return }
    for case .file(let validation) in core.validations {
      guard case .failure(let error) = validation(request, head, URL(fileURLWithPath: part.path)) else { continue }
      course.resumeData = nil
      throw .of(.validation, error)
    }
  }

  /// The attempt before this one gave the file its name, and could not bring the name to the disk: that is all that is left
  /// to do. Once more is enough here: file systems keep names in a journal, and one that has failed to write its journal
  /// takes no further changes and goes on to fail; it does not forget as a file's pages are forgotten.
  func finishNamed(_ course: inout Course, _ directory: Directory, size: Int64) async throws(TransferError) -> String {
    guard let location = course.resumeData?.partialFile else { throw .connection(.broken("no answer")) }
    course.resumedFrom = size
    course.onDisk = size
    course.total = size
    course.verification = plan.expectedDigests.isEmpty ? .length : .digest
    try await DirectorySync.shared.perform(in: directory) { () throws(TransferError) in
      // Where a link and an unlink did the rename's work, the first name may be left.
      if directory.size(of: location.name, expecting: location.identity) != nil { directory.remove(location.name) }
    }
    return directory.path + (directory.path == "/" ? "" : "/") + location.finalName
  }

  /// Length and digests. A digest that does not match spoils the part file: nothing of it can be gone on from.
  private func verify(_ course: inout Course, _ part: PartialFile) async throws(TransferError) {
    let size = part.size
    if let total = course.total, size != total {
      throw .verification(.length(expected: total, actual: size))
    }
    course.verification = course.total != nil ? .length : .none
    let expected = plan.expectedDigests + (course.resumeData?.declaredDigests ?? declaredByHead(course))
    guard !expected.isEmpty else {
      if course.total == nil, let head = course.head, !head.isSelfDelimiting, head.contentCoding == nil {
        try await compareWithHead(&course, size)
      } else if course.total == nil, course.head?.isSelfDelimiting == true {
        course.verification = .length
      }
      return
    }
    let actual: [DigestAlgorithm: String]
    if let digests = course.digests, course.resumedFrom == 0 {
      actual = digests
    } else {
      let algorithms = Set(expected.map(\.algorithm))
      actual = try await BlockingIO.run { () throws(TransferError) in try part.digests(algorithms) }
    }
    for digest in expected where actual[digest.algorithm] != digest.hex {
      course.resumeData = nil
      throw .verification(
        .digest(
          algorithm: digest.algorithm.rawValue, expected: digest.hex, actual: actual[digest.algorithm] ?? "unknown"))
    }
    course.verification = .digest
  }

  private func declaredByHead(_ course: Course) -> [ExpectedDigest] {
    course.head.map(DeclaredDigests.of) ?? []
  }

  /// The body ended with the connection, which a cut looks just like: ask the server how long the file is. One that
  /// does not say leaves it unverified.
  private func compareWithHead(_ course: inout Course, _ size: Int64) async throws(TransferError) {
    var request = plan.request
    request.method = .head
    request.headers[.acceptEncoding] = "identity"
    let response = await session.exchange(request)
    if Task.isCancelled { throw .cancelled }
    guard response.error == nil, let head = response.head, head.status == 200, head.contentCoding == nil,
      let length = try? head.contentLength()
    else { return }
    guard length == size else { throw .response(.truncated(received: size, expected: length)) }
    course.total = length
    course.verification = .length
  }

  private func bringToDisk(_ course: inout Course, _ part: PartialFile) async throws(TransferError) -> ResumeData {
    do throws(TransferError) {
      try await BlockingIO.run { () throws(TransferError) in try part.synchronize() }
    } catch {
      // After a failed fsync the pages count as lost, though a second one may say success.
      course.resumeData = nil
      throw error
    }
    let size = part.size
    var data =
      course.resumeData
      ?? ResumeData(
        url: plan.request.url.withoutQuery, validators: Validators(), totalBytes: size,
        partialFile: .init(
          directory: part.directory.path, name: part.name, identity: part.identity,
          finalName: plan.destination.name),
        checkpointBytes: size, bootID: BootID.current)
    if let target = course.target { data.partialFile.finalName = target.name }
    data.totalBytes = size
    data.checkpointBytes = size
    data.isVerified = true
    course.resumeData = data
    course.total = size
    if let journal = plan.journal {
      do {
        try await journal.willRename(data)
      } catch {
        throw .hook(.journal, error)
      }
    }
    return data
  }
}

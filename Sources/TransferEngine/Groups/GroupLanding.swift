import HTTPTypes
import WireValues

/// Gives files of one directory that have arrived their names: create and write all → verify → sync all → record all → rename
/// all → sync the directory. Each step is durable before the next begins. A failure ends only the downloads that it
/// concerns; they leave the group, and a `DownloadPipeline` decides what is kept.
struct GroupLanding: Sendable {
  let group: DownloadGroupCore

  /// The steps, in order.
  enum Step: CaseIterable, Sendable { case create, write, verify, sync, record, rename, syncDirectory }

  /// The error of a step for the download with this tag; `nil` if it succeeds.
  typealias Fault = @Sendable (Step, _ tag: Int) -> TransferError?

  /// A file with all its bytes.
  private struct Written: Sendable {
    let member: GroupMember
    let part: PartialFile
    let target: DownloadTarget
    let size: Int64
    let verification: DownloadVerification
    var data: ResumeData
    let landed: LandedName
  }

  /// - Returns: the outcomes of the files that have their names, durably.
  func land(_ members: [GroupMember]) async -> [DownloadGroup.Outcome] {
    let written = await BlockingIO.value { synchronize(members.compactMap(write)) }
    return await rename(await record(written)).map(outcome)
  }

  // MARK: Bytes

  /// Writes one file. Blocks.
  /// - Returns: `nil` if the download has left the group.
  private func write(_ member: GroupMember) -> Written? {
    guard member.beginLanding() else {
      member.leave(with: .cancelled(metrics: member.metrics))
      return nil
    }
    defer { member.releaseBody() }
    var context = DownloadPipeline.AttemptContext()
    (context.request, context.head, context.bodyHead) = (member.request, member.head, member.head)
    (context.origin, context.received) = (member.origin, member.length)
    context.existing = member.existing
    do throws(TransferError) {
      return try write(member, &context)
    } catch {
      member.leave(with: error, in: context)
      return nil
    }
  }

  private func write(
    _ member: GroupMember, _ context: inout DownloadPipeline.AttemptContext
  ) throws(TransferError) -> Written {
    guard let plan = member.plan, let head = member.head else { throw .connection(.broken("no response")) }
    try check(.create, member)
    let target = try plan.target(for: head, in: member.directory, member.existing)
    let part = try PartialFile.create(in: target.directory, name: plan.partialName)
    let declared = DeclaredDigests.of(head)
    var data = plan.resumeData(of: part, for: target, Validators(of: head), declared, total: member.length)
    (context.target, context.part, context.resumeData, context.total) = (target, part, data, member.length)
    try check(.write, member)
    _ = try member.body.withUnsafeBytes { bytes in
      Result { () throws(TransferError) in try part.write(bytes, at: 0) }
    }.get()
    context.onDisk = member.length
    let expected = plan.expectedDigests + declared
    do throws(TransferError) {
      try check(.verify, member)
      if !expected.isEmpty {
        var digester = Digester(Set(expected.map(\.algorithm)))
        member.body.withUnsafeBytes { digester.update($0) }
        try DownloadPipeline.compare(digester.finalize(), with: expected)
      }
    } catch {
      // A file with a wrong digest cannot be resumed.
      context.resumeData = nil
      throw error
    }
    plan.note(part, data.validators, in: &data)
    data.complete(member.length)
    return Written(
      member: member, part: part, target: target, size: member.length,
      verification: expected.isEmpty ? .length : .digest, data: data, landed: LandedName(target.name))
  }

  /// Blocks.
  private func synchronize(_ files: [Written]) -> [Written] {
    let results = FileSync.synchronize(files.map { ($0.part, $0.size) })
    return zip(files, results).compactMap { file, result in
      do throws(TransferError) {
        try check(.sync, file.member)
        try result.get()
        return file
      } catch {
        // The bytes count as lost: nothing can be resumed.
        var context = context(of: file)
        context.resumeData = nil
        file.member.leave(with: error, in: context)
        return nil
      }
    }
  }

  // MARK: Names

  private func record(_ files: [Written]) async -> [Written] {
    guard !files.isEmpty else { return [] }
    var allowed: [Result<Void, TransferError>]
    if let journal = group.journal {
      do {
        let answers = try await journal.willRename(files.map { ($0.member.download.tag, $0.data) })
        allowed = files.indices.map { index in
          index < answers.count && answers[index] ? .success(()) : .failure(.hook(.journal, DownloadGroup.LostClaim()))
        }
      } catch {
        allowed = files.map { _ in .failure(.hook(.journal, error)) }
      }
    } else {
      allowed = []
      for file in files { allowed.append(await recordAlone(file)) }
    }
    return zip(files, allowed).compactMap { file, result in keep(file, result, .record) }
  }

  private func recordAlone(_ file: Written) async -> Result<Void, TransferError> {
    guard let journal = file.member.download.journal else { return .success(()) }
    do {
      try await journal.willRename(file.data)
      return .success(())
    } catch {
      return .failure(.hook(.journal, error))
    }
  }

  /// The files of a landing are in one directory.
  private func rename(_ files: [Written]) async -> [Written] {
    guard let directory = files.first?.target.directory else { return [] }
    let results = await DirectorySync.shared.perform(in: directory) {
      var rules = CheckedRules()
      return files.map { file in
        Result { () throws(TransferError) in
          try check(.rename, file.member)
          try rules.check(file.target, file.member.download.rules)
          file.landed.name = try file.part.land(
            as: file.target.name, in: file.target.directory, file.target.replacement,
            file.member.download.destination.attributes, file.data.validators)
        }
      }
    }
    return zip(files, results).compactMap { file, result in keep(file, result, .syncDirectory) }
  }

  // MARK: Results

  /// The file, or `nil` if its download fails now: all bytes are synced and can still get their name.
  private func keep(_ file: Written, _ result: Result<Void, TransferError>, _ step: Step) -> Written? {
    do throws(TransferError) {
      try result.get()
      try check(step, file.member)
      return file
    } catch {
      file.member.leave(with: error, in: context(of: file))
      return nil
    }
  }

  private func check(_ step: Step, _ member: GroupMember) throws(TransferError) {
    if let error = group.fault?(step, member.download.tag) { throw error }
  }

  private func context(of file: Written) -> DownloadPipeline.AttemptContext {
    var context = DownloadPipeline.AttemptContext()
    (context.request, context.head, context.bodyHead) = (file.member.request, file.member.head, file.member.head)
    (context.origin, context.target, context.part) = (file.member.origin, file.target, file.part)
    (context.received, context.onDisk, context.total) = (file.size, file.size, file.size)
    context.resumeData = file.data
    context.resumeData?.partialFile.finalName = file.landed.name
    context.existing = file.member.existing
    return context
  }

  private func outcome(_ file: Written) -> DownloadGroup.Outcome {
    let (member, path) = (file.member, file.target.directory.path(of: file.landed.name))
    var response = FileResponse(result: .success(path))
    (response.request, response.head, response.filePath) = (member.request, member.head, path)
    (response.bytesReceived, response.bytesOnDisk, response.totalBytes) = (file.size, file.size, file.size)
    (response.respondingOrigin, response.verification) = (member.origin, file.verification)
    response.record = file.data.record.flatMap { FileRecord($0) }
    let session = member.session
    if let metrics = member.metrics {
      response.metrics = [metrics]
      session.notify(member.requestID, .gatherMetrics(metrics))
    }
    session.notify(member.requestID, .finish)
    return DownloadGroup.Outcome(tag: member.download.tag, response: response)
  }
}

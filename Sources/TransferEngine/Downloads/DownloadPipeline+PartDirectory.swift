/// A part file that is not beside its destination.
extension DownloadPipeline {
  /// Opens the directory that the part file has of its own, if it has one. A copy beside the destination is one that an earlier
  /// attempt has not finished: it is removed before free space is compared.
  func openPartDirectory(
    _ context: inout AttemptContext, _ directory: Directory?
  ) async throws(TransferError) {
    let plan = plan
    let part = try await BlockingIO.run { () throws(TransferError) in
      let part = try plan.openPartDirectory()
      if let part, let directory, part != directory { directory.removeAll(ofPart: plan.partialName) }
      return part
    }
    context.directories = directory.flatMap { directory in part.map { (directory, $0) } }
  }

  /// Checks the file systems that the file uses.
  func checkFree(_ context: AttemptContext, _ directory: Directory?) async throws(TransferError) {
    guard plan.destination.minimumFree > 0 else { return }
    let (plan, directories) = (plan, [directory, context.directories?.part].compactMap { $0 })
    try await BlockingIO.run { () throws(TransferError) in try plan.checkFree(in: directories) }
  }

  /// Copies a complete part file beside its destination, which is on another file system, and syncs it to disk. Until the copy
  /// has its final name, the part file stays.
  func copy(
    _ part: PartialFile, to directory: Directory, _ data: inout ResumeData
  ) async throws(TransferError) -> PartialFile {
    let (stop, least) = (CopyStop(), plan.destination.minimumFree)
    let result = await withTaskCancellationHandler {
      await BlockingIO.value {
        Result { () throws(TransferError) in try part.copy(to: directory, leaving: least, stop) }
      }
    } onCancel: {
      stop.stop()
    }
    let copy = try result.get()
    data.landing = .init(directory: directory.path, copy: copy.identity)
    return copy
  }

  /// Deletes a part file whose copy has its final name, durably: nothing else would find it after a power cut.
  func removeCopied(_ part: PartialFile) async {
    await BlockingIO.value {
      part.directory.removePart(part.name)
      try? part.directory.synchronize()
    }
  }
}

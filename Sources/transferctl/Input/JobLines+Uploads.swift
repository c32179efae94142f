import FoundationEssentials
import TransferAPI

/// Adds uploads from paths, lists and manifests.
extension JobLines {
  /// Adds a path of the command line. With `recursive`, a directory stands for all its files.
  mutating func add(path: String, _ plan: UploadPlan, _ files: SourceFiles, recursive: Bool) {
    guard recursive, PathResolver.isDirectory(path) else {
      return take(.path(path)) { _ in try plan.job(for: files.file(path)) }
    }
    guard let directory = try? files.paths.absolute(path) else {
      return take(.path(path)) { _ in try plan.job(for: files.file(path)) }
    }
    let walk = DirectoryWalk(directory)
    for fault in walk.faults {
      add(fault: Fault(origin: .path(path), message: fault.description, status: fault.status, isOfFile: true))
    }
    for file in walk.files {
      take(.path(file)) { _ in try plan.job(for: files.file(file, foundIn: directory)) }
    }
    if walk.skipped > 0 {
      Notice.say("skipped \(HumanNumbers.files(walk.skipped)) in \(directory): symbolic links or special files")
    }
  }

  /// Adds the paths of a list.
  /// - Parameters:
  ///   - nul: whether items end with NUL instead of LF.
  ///   - ignoringMissing: whether to skip files that no longer exist.
  /// - Throws: `CommandFailure` for a list that cannot be read.
  mutating func add(
    list: ListFile, nul: Bool, _ plan: UploadPlan, _ files: SourceFiles, ignoringMissing: Bool
  ) throws {
    var gone = 0
    try InputLines.eachLiteral(in: list, separator: nul ? 0 : UInt8(ascii: "\n")) { number, item in
      take(nul ? .item(number) : .line(number)) { _ in
        do {
          return try plan.job(for: files.file(item.get(), relativeTo: files.root))
        } catch let fault as FileFault where fault.isMissing && ignoringMissing {
          gone += 1
          return nil
        }
      }
    }
    if gone > 0 { Notice.say("skipped \(HumanNumbers.files(gone)): not found") }
  }

  /// Adds lines of JSON with the fields of a new upload. Only `source` is required.
  /// - Throws: `CommandFailure` for a manifest that cannot be read.
  mutating func add(manifest: ListFile, _ plan: UploadPlan, _ files: SourceFiles) throws {
    let naming = FieldNaming(.json, options: plan.job.givenFields)
    self.naming = naming
    try InputLines.each(in: manifest) { number, line in
      take(.line(number)) { decoder in
        let json = Data(try line.get().utf8)
        let names = try WireCoding.decode(FieldNames.self, from: json, with: decoder).names
        decoder.userInfo[.newJobKind] = JobKind.upload
        return try naming.explaining(names) { () throws -> NewJob in
          let job = try decoder.decode(NewJob.self, from: json)
          guard job.kind == .upload, job.spool == nil else {
            throw WireError("a manifest may only contain uploads of files")
          }
          var given = job
          if case .move(let directory) = job.options.onSuccess {
            given.options.onSuccess = .move(to: try files.paths.absolute(directory))
          }
          return try plan.completed(given, files.file(job.source, relativeTo: files.root), given: names)
        }
      }
    }
  }
}

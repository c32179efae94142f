import FoundationEssentials
import TransferAPI

/// Uploads, from paths, lists and manifests.
extension JobLines {
  /// A path of the command line; a directory gives all its files where that is asked for.
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
    if walk.passedOver > 0 {
      Notice.say("passed over \(walk.passedOver) in \(directory): links, or no regular files")
    }
  }

  /// - Parameters:
  ///   - nul: items end with NUL instead of LF.
  ///   - ignoringMissing: files that went away since the list was made are passed over.
  mutating func add(
    list bytes: [UInt8], nul: Bool, _ plan: UploadPlan, _ files: SourceFiles, ignoringMissing: Bool
  ) {
    var gone = 0
    InputLines.eachLiteral(in: bytes, separator: nul ? 0 : UInt8(ascii: "\n")) { number, item in
      take(nul ? .item(number) : .line(number)) { _ in
        do {
          return try plan.job(for: files.file(item.get(), relativeTo: files.root))
        } catch let fault as FileFault where fault.isMissing && ignoringMissing {
          gone += 1
          return nil
        }
      }
    }
    if gone > 0 { Notice.say("passed over \(HumanNumbers.files(gone)) that went away") }
  }

  /// Lines of JSON: the fields of a new upload, of which only `source` is required.
  mutating func add(manifest bytes: [UInt8], _ plan: UploadPlan, _ files: SourceFiles) {
    InputLines.each(in: bytes) { number, line in
      take(.line(number)) { decoder in
        let json = Data(try line.get().utf8)
        let names = try decoder.decode(FieldNames.self, from: json).names
        decoder.userInfo[.newJobKind] = JobKind.upload
        let job = try decoder.decode(NewJob.self, from: json)
        guard job.kind == .upload, job.spool == nil else { throw WireError("a manifest is for uploads of files") }
        var given = job
        if case .move(let directory) = job.upload.onSuccess {
          given.upload.onSuccess = .move(to: try files.paths.absolute(directory))
        }
        return try plan.completed(given, files.file(job.source, relativeTo: files.root), given: names)
      }
    }
  }
}

import TransferAPI
import WireValues

/// Adds the files of a Metalink.
extension JobLines {
  /// - Throws: `CommandFailure` for several files with one name or key.
  mutating func add(_ metalink: Metalink, _ defaults: JobDefaults) throws {
    for file in metalink.files {
      let number = nextNumber
      take(.argument(file.name)) { _ in try defaults.job(file, number: number) }
    }
    guard metalink.files.count > 1 else { return }
    if defaults.output?.isConstant ?? false {
      throw CommandFailure(
        .usage, "-o names one file, and the Metalink has \(metalink.files.count); put {name} or {n} into it")
    }
    if defaults.job.key != nil {
      throw CommandFailure(.usage, "--key names one job, and the Metalink has \(metalink.files.count) files")
    }
  }
}

extension JobDefaults {
  /// The job of a file of a Metalink. Its name is a path below the directory, unless `-o` gives another one.
  /// - Throws: `WireError` for options that it cannot have, `CommandFailure` for the path.
  func job(_ file: MetalinkFile, number: Int) throws -> NewJob {
    var job = try job(url: file.urls.first ?? "", number: number)
    file.fill(&job)
    if output == nil {
      job.directory = nil
      job.destination = try paths.absolute(file.name, relativeTo: directory)
    }
    try job.options.check()
    try job.checkFreshness()
    return job
  }
}

import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Makes uploads from a list of paths that share their options. Target and key may be templates, which are filled with the
/// properties of each file.
struct UploadList: Sendable {
  private let validation: JobValidation
  private let network: NetworkRules
  private let job: NewJob
  private let target: UploadTemplate
  private let key: UploadTemplate?
  /// The rules for where the caller's jobs may read.
  private let rules: PathRules

  /// - Parameter job: the common options.
  /// - Throws: `Problem` for an option that is wrong for every path.
  init(
    _ job: NewJob, _ validation: JobValidation, _ network: NetworkRules, rules: PathRules
  ) throws(Problem) {
    guard let destination = job.destination, !destination.isEmpty else {
      throw Problem(.invalid, text: "missing field \"\(field: "destination")\": the URL")
    }
    do throws(WireError) {
      target = try UploadTemplate(parsing: destination)
      key = try job.key.map { text throws(WireError) in try UploadTemplate(parsing: text) }
      try job.options.check()
    } catch {
      throw Problem(.invalid, text: error.text)
    }
    for field in [UploadTemplate.Field.sha256, .relpath] where target.uses(field) || key?.uses(field) ?? false {
      throw Problem(.invalid, "{\(field.rawValue)} needs JSON lines: the daemon cannot fill it in")
    }
    if let key, key.isConstant {
      throw Problem(.invalid, text: "\(field: "key") names one job; put {path} or {name} into it")
    }
    self.job = job
    self.validation = validation
    self.network = network
    self.rules = rules
    // A sample file, with which errors of the options themselves are found.
    let sample = UploadedFile(path: "/x/x", relativePath: "x", size: 1, modifiedSeconds: 1, modifiedNanoseconds: 1)
    let spec = try validation.spec(filled(sample))
    try network.check(spec.userURLs, of: spec.owner)
  }

  /// Makes the job of a path. Blocks: properties of the file are read if a template names them.
  func spec(_ path: String) -> Result<JobSpec, Problem> {
    do throws(Problem) {
      // First, so that a caller learns nothing about a forbidden path.
      let checked = try JobValidation.checked(path)
      let spec = try validation.spec(filled(try file(checked)))
      try network.check(spec.userURLs, of: spec.owner)
      return .success(spec)
    } catch {
      return .failure(error)
    }
  }

  private func filled(_ file: UploadedFile) -> NewJob {
    var result = job
    result.source = file.path
    target.fill(&result, for: file)
    result.key = key?.expanded(for: file)
    return result
  }

  /// - Throws: `Problem` as `SourceCheck` does.
  private func file(_ path: String) throws(Problem) -> UploadedFile {
    var file = UploadedFile(
      path: path, relativePath: String(path.baseName), size: 0, modifiedSeconds: 0, modifiedNanoseconds: 0)
    let needsStatus = [UploadTemplate.Field.size, .mtime].contains { target.uses($0) || key?.uses($0) ?? false }
    guard needsStatus else { return file }
    let status = try SourceCheck.status(of: path, rules)
    file.size = Int64(status.st_size)
    file.modifiedSeconds = Int64(status.st_mtim.tv_sec)
    file.modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
    return file
  }
}

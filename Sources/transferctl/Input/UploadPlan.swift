import FoundationEssentials
import TransferAPI

/// What the options of `upload` make of a file. Pure.
struct UploadPlan: Sendable {
  /// `nil` where every line of a manifest says its own.
  var target: UploadTemplate?
  var key: UploadTemplate?
  /// A slash at the end of the target stands for the relative path instead of the name.
  var keepsPaths = false
  var options = UploadOptions()
  /// What downloads and uploads have in common.
  var job = NewJob(source: "")

  /// Whether the content has to be read for it.
  var needsDigest: Bool { target?.uses(.sha256) ?? false || key?.uses(.sha256) ?? false }

  /// - Throws: `CommandFailure` where several files cannot have it.
  func requireManyAllowed() throws {
    if let key, key.isConstant {
      throw CommandFailure(.usage, "--key is the same for all files; put {path} or {name} into it")
    }
    let sample = UploadedFile(
      path: "/a/name", relativePath: "name", size: 0, modifiedSeconds: 0, modifiedNanoseconds: 0)
    if let target, target.isConstant, target.collection(for: sample) == nil, options.replacesTarget {
      throw CommandFailure(.usage, "all files would get the same URL; end --to with a slash or put {name} into it")
    }
  }

  /// - Throws: `WireError` for the URL.
  func job(for file: UploadedFile) throws -> NewJob {
    try completed(NewJob(uploading: file.path, to: ""), file, given: [])
  }

  /// - Parameter given: the fields that the line of a manifest names; they win.
  func completed(_ given: NewJob, _ file: UploadedFile, given names: Set<String>) throws -> NewJob {
    var result = given
    result.source = file.path
    result.upload = merged(given.upload, names)
    result.fill(from: job) { !names.contains($0) }
    let template: UploadTemplate
    if let destination = given.destination, !destination.isEmpty {
      template = try UploadTemplate(parsing: destination)
    } else {
      guard let target else { throw WireError("it names no destination, and there is no --to") }
      template = target
    }
    let ending: UploadTemplate.Ending = result.upload.uploadProtocol == .form ? .none : keepsPaths ? .path : .name
    result.destination = template.url(for: file, ending: ending)
    if !names.contains("collection"), mayBeTus(result) { result.upload.collection = template.collection(for: file) }
    try Syntax.check(url: result.destination ?? "", schemes: Syntax.uploadSchemes)
    if !names.contains("key") { result.key = key?.expanded(for: file) }
    for (name, value) in result.headers { try Syntax.check(header: name, value: value) }
    return result
  }

  private func mayBeTus(_ job: NewJob) -> Bool {
    [.auto, .tus].contains(job.upload.uploadProtocol) && job.destination?.lowercased().hasPrefix("http") ?? false
  }

  private func merged(_ own: UploadOptions, _ names: Set<String>) -> UploadOptions {
    var merged = own
    if !names.contains("method") { merged.method = options.method }
    if !names.contains("protocol") { merged.uploadProtocol = options.uploadProtocol }
    if !names.contains("form") { merged.form = options.form }
    if !names.contains("onSuccess") { merged.onSuccess = options.onSuccess }
    if !names.contains("onChange") { merged.onChange = options.onChange }
    if !names.contains("endpoint") { merged.endpoint = options.endpoint }
    if !names.contains("profile") { merged.profile = options.profile }
    if !names.contains("region") { merged.region = options.region }
    if !names.contains("verify") { merged.verify = options.verify }
    if !names.contains("ifAbsent") { merged.ifAbsent = options.ifAbsent }
    return merged
  }
}

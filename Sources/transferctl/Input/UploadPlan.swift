import FoundationEssentials
import TransferAPI
import WireValues

/// Makes upload jobs from the options of `upload` and files.
struct UploadPlan: Sendable {
  /// The template of `--to`; `nil` if every line of a manifest names its target.
  var target: UploadTemplate?
  var key: UploadTemplate?
  /// Whether a slash at the end of the target adds the relative path instead of the name.
  var keepsPaths = false
  /// The job that the options describe.
  var job = NewJob(source: "")

  /// Whether a template uses the file's digest.
  var needsDigest: Bool { target?.uses(.sha256) ?? false || key?.uses(.sha256) ?? false }

  /// The header field with the options of a list of paths; `nil` if the daemon cannot fill in the templates, or if the options
  /// are too long for a header field.
  var listOptions: String? {
    guard let target, !keepsPaths, job.options.upload.collection == nil else { return nil }
    for field in [UploadTemplate.Field.sha256, .relpath] where target.uses(field) || key?.uses(field) ?? false {
      return nil
    }
    var job = job
    job.kind = .upload
    job.destination = target.text
    job.key = key?.text
    return job.listOptions
  }

  /// - Throws: `CommandFailure` if several files would get the same key or URL.
  func requireManyAllowed() throws {
    if let key, key.isConstant {
      throw CommandFailure(.usage, "cannot use one --key for several files; put {path} or {name} into it")
    }
    if let target, target.namesOneURL, job.options.upload.replacesTarget {
      throw CommandFailure(
        .usage, "cannot upload several files to one URL; end --to with a slash or put {name} into it")
    }
  }

  /// - Throws: `WireError` for the URL.
  func job(for file: UploadedFile) throws -> NewJob {
    try completed(NewJob(uploading: file.path, to: ""), file, given: [])
  }

  /// - Parameter given: the names of the fields that the line of a manifest sets; they override the options.
  func completed(_ given: NewJob, _ file: UploadedFile, given names: Set<String>) throws -> NewJob {
    var result = given
    result.source = file.path
    result.fill(from: job, except: names)
    try result.options.check()
    let template: UploadTemplate
    if let destination = given.destination, !destination.isEmpty {
      template = try UploadTemplate(parsing: destination)
    } else {
      guard let target else {
        throw WireError("no target is given; add \"destination\" to the line, or use --to")
      }
      template = target
    }
    template.fill(&result, for: file, keepsPath: keepsPaths, namesCollection: !names.contains("collection"))
    try Syntax.check(url: result.destination ?? "", schemes: URLText.uploadSchemes)
    if !names.contains("key") { result.key = key?.expanded(for: file) }
    return result
  }
}

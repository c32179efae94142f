import ArgumentParser
import TransferAPI

/// The options of `upload` and `folder add` that describe their jobs: their option groups together.
struct UploadOptions {
  let upload: UploadArguments
  let s3: S3Arguments
  let job: JobArguments
  let network: NetworkArguments

  /// Checks what each group cannot check alone.
  func check() throws {
    try network.check(key: upload.key)
    // Files and descriptors are read when the command runs: reading a pipe may block.
    _ = try job.template(network, PathResolver(), readingSources: false)
  }

  /// - Throws: `CommandFailure` if the directory of `move=` does not exist.
  func plan(_ paths: PathResolver = PathResolver()) throws -> UploadPlan {
    var job = try job.template(network, paths)
    job.options.upload = try upload.options()
    job.options.s3 = s3.options
    job.options.onSuccess = try SuccessAction(parsing: upload.onSuccess).resolved(paths)
    return UploadPlan(
      target: try upload.to.map { text throws(WireError) in try UploadTemplate(parsing: text) },
      key: try upload.key.map { text throws(WireError) in try UploadTemplate(parsing: text) },
      keepsPaths: upload.recursive || upload.root != nil, job: job)
  }
}

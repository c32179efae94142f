import HTTPTypes

/// Downloads by FTP, SFTP and SCP, and of local files. These have no head, no status and no redirects; size and time
/// identify a version.
extension DownloadPipeline {
  /// Sends requests until the file is complete. Resuming fetches the last 64 KiB on disk again and compares them,
  /// because size and time are weak validators.
  func fetchRemote(
    _ context: inout AttemptContext, _ request: TransferRequest, _ directory: Directory?
  ) async throws(TransferError) {
    guard !request.url.namesDirectory else { throw .remote(.isDirectory(path: request.url.path)) }
    guard request.method == .get, request.body == nil else {
      throw .remote(.unsupported("\(request.url.scheme): downloads have neither a method nor a body"))
    }
    try await keepFirstBytes(&context)
    var question = RangeQuestion.rest(
      of: context.resumeData, bytesOnDisk: context.onDisk, scheme: request.url.scheme)
    while true {
      let ending: DownloadReceiver.Ending
      do throws(TransferError) {
        ending = try await transfer(
          &context, request, directory, question, false, base: request
        ).ending
      } catch .remote(.cannotResume(let reply)) where question.isRanged {
        ending = .nextStrategy(reason: reply.isEmpty ? "the server cannot begin in the middle" : reply)
      } catch .connection(.broken(let reason)) where request.url.scheme == "sftp" && context.onDisk == 0 {
        // OpenSSH opens a directory like a file and fails the first read without a message.
        let files = RemoteFiles(session: session, request: request)
        guard try await files.isDirectory(request.url) else { throw .connection(.broken(reason)) }
        throw .remote(.isDirectory(path: request.url.path))
      }
      switch ending {
      case .body:
        if context.isShort { throw .response(.truncated(received: context.onDisk, expected: context.total)) }
        guard let total = context.total, context.onDisk < total else { return }
        throw .response(.truncated(received: context.onDisk, expected: total))
      case .nextStrategy(let reason), .differs(let reason):
        session.notify(core.id, .refuseToResume(reason: reason))
        guard question.isRanged else { throw .response(.malformed(reason)) }
        question =
          try cutToCheckpoint(&context)
          ? .rest(of: context.resumeData, bytesOnDisk: context.onDisk, scheme: request.url.scheme) : .whole
      case .none, .redirect, .alreadyComplete, .encoded, .kept, .verify:
        throw .connection(.broken("the server sent nothing"))
      }
    }
  }
}

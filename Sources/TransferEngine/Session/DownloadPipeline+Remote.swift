/// Downloads by FTP, SFTP and SCP and of local files: no head, no statuses, no redirects; size and time tell versions apart.
extension DownloadPipeline {
  /// Asks until the file is whole. Going on begins with the last 64 KiB again, which must be those that are there: size and
  /// time are weak signs (http-resume: the ladder's last rung but one).
  func fetchRemote(
    _ course: inout Course, _ request: TransferRequest, _ directory: Directory?
  ) async throws(TransferError) {
    guard !request.url.namesDirectory else { throw .remote(.isDirectory(path: request.url.path)) }
    guard request.method == .get, request.body == nil else {
      throw .remote(.unsupported("\(request.url.scheme): downloads have neither a method nor a body"))
    }
    var question = RangeQuestion.rest(
      of: course.resumeData, bytesOnDisk: course.onDisk, scheme: request.url.scheme)
    while true {
      let ending: DownloadReceiver.Ending
      do throws(TransferError) {
        ending = try await transfer(&course, request, directory, question, false).ending
      } catch .remote(.cannotResume(let reply)) where question.isRanged {
        ending = .nextRung(reason: reply.isEmpty ? "the server cannot begin in the middle" : reply)
      } catch .connection(.broken(let reason)) where request.url.scheme == "sftp" && course.onDisk == 0 {
        // OpenSSH opens a directory like a file and fails the first read, without a word of its own.
        let files = RemoteFiles(session: session, request: request)
        guard try await files.isDirectory(request.url) else { throw .connection(.broken(reason)) }
        throw .remote(.isDirectory(path: request.url.path))
      }
      switch ending {
      case .body:
        if course.isShort { throw .response(.truncated(received: course.onDisk, expected: course.total)) }
        guard let total = course.total, course.onDisk < total else { return }
        throw .response(.truncated(received: course.onDisk, expected: total))
      case .nextRung(let reason), .differs(let reason):
        session.notify(core.id, .refuseToResume(reason: reason))
        guard question.isRanged else { throw .response(.malformed(reason)) }
        question =
          try cutToCheckpoint(&course)
          ? .rest(of: course.resumeData, bytesOnDisk: course.onDisk, scheme: request.url.scheme) : .whole
      case .none, .redirect, .alreadyComplete, .encoded:
        throw .connection(.broken("the server sent nothing"))
      }
    }
  }
}

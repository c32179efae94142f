import HTTPTypes

/// Downloads that end in the group and leave their destination as it is.
extension GroupMember {
  /// The server has said that the destination is its version.
  var isUnchanged: Bool { head?.status == 304 }

  /// The response of a download whose destination stays, without a request.
  func skipped(in directory: Directory) -> FileResponse {
    let path = directory.path(of: download.destination.name)
    var response = FileResponse(result: .success(path))
    (response.filePath, response.outcome) = (path, .skipped)
    return response
  }

  /// The outcome of a download whose destination is the server's version. No file is written or synced.
  /// - Returns: `nil` if the download was cancelled, and has left the group.
  func unchangedOutcome() -> DownloadGroup.Outcome? {
    guard let head, let directory, case .ask(let record, _)? = existing else {
      preconditionFailure("the request was not conditional")
    }
    guard beginLanding() else {
      leave(with: .cancelled(metrics: metrics))
      return nil
    }
    let path = directory.path(of: download.destination.name)
    var response = FileResponse(result: .success(path))
    (response.request, response.head, response.filePath) = (request, head, path)
    (response.outcome, response.respondingOrigin) = (.unchanged, origin)
    response.record = FileRecord(validators: record.validators.confirmed(by: head), stamp: record.stamp)
    if let metrics {
      response.metrics = [metrics]
      session.notify(requestID, .gatherMetrics(metrics))
    }
    session.notify(requestID, .finish)
    return DownloadGroup.Outcome(tag: download.tag, response: response)
  }
}

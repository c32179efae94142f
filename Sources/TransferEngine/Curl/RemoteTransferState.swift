import CCurl
import Glibc
import WireValues

/// The state of one transfer by FTP, SFTP or SCP; HTTP has none.
final class RemoteTransferState {
  let options: RemoteOptions
  /// libcurl's message for a failure (CURLOPT_ERRORBUFFER(3)). It lives as long as the transfer, which may outlive its
  /// options.
  let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  var hostKeys: HostKeyCheck?
  var isAwaitingFacts = false
  var lastReply = ""
  /// The answer to `RemoteOptions.Operation.freeSpace`.
  var freeBytes: Int64?
  var dialogueBytes = 0
  var moved: Int64 = 0
  var lastMove = ContinuousClock.now

  init(_ options: RemoteOptions) {
    self.options = options
    message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { message.deallocate() }

  /// The FTP reply that caused a failure, or else libcurl's message.
  func reply(status: Int) -> String {
    if status >= 400 || lastReply.hasPrefix("421"), !lastReply.isEmpty { return lastReply }
    return RemoteErrors.printable(String(cString: message))
  }

  /// A limit that is longer than libcurl's own. It ends waits inside libcurl that would never end, and waits for which
  /// libcurl has no timer.
  func silenceLimit(_ request: WireRequest) -> Duration? {
    request.stallTimeout.map { $0 * 2 + request.connectTimeout }
  }
}

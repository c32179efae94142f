import CCurl
import Glibc
import WireValues

/// Translates libcurl's result codes of FTP, SFTP and SCP transfers into the engine's errors (`libcurl-errors(3)`, RFC
/// 959 §4.2).
enum RemoteErrors {
  /// What is known about a failed transfer.
  struct Situation {
    var options: RemoteOptions
    /// Host and port, for messages.
    var host: String
    /// The code of the last FTP reply; 0 for SSH.
    var status: Int
    /// The last FTP reply, or else libcurl's message.
    var reply: String
    var systemError: Int32
    var received: Int64
    var isConnected: Bool
  }

  static func translate(_ code: CURLcode, _ at: Situation) -> TransferError {
    switch code {
    case CURLE_LOGIN_DENIED: return .remote(login(at))
    // libcurl's code for a 421 reply at any time.
    case CURLE_OPERATION_TIMEDOUT where at.options.isFTP && at.reply.hasPrefix("421"):
      return .remote(.busy(host: at.host, reply: at.reply))
    case CURLE_WEIRD_SERVER_REPLY where at.options.isFTP: return .remote(refusal(at))
    case CURLE_REMOTE_ACCESS_DENIED, CURLE_REMOTE_FILE_NOT_FOUND, CURLE_FTP_COULDNT_RETR_FILE, CURLE_UPLOAD_FAILED,
      CURLE_QUOTE_ERROR:
      return .remote(file(code, at))
    case CURLE_REMOTE_DISK_FULL: return .remote(.storageFull(host: at.host, reply: at.reply))
    case CURLE_REMOTE_FILE_EXISTS: return .remote(.exists(path: at.options.path))
    case CURLE_FTP_COULDNT_USE_REST, CURLE_BAD_DOWNLOAD_RESUME: return .remote(.cannotResume(reply: at.reply))
    case CURLE_FTP_WEIRD_PASS_REPLY, CURLE_FTP_WEIRD_PASV_REPLY, CURLE_FTP_WEIRD_227_FORMAT, CURLE_FTP_CANT_GET_HOST,
      CURLE_FTP_COULDNT_SET_TYPE, CURLE_FTP_PORT_FAILED, CURLE_FTP_PRET_FAILED, CURLE_FTP_BAD_FILE_LIST,
      CURLE_FTP_ACCEPT_FAILED:
      return .remote(refusal(at))
    case CURLE_FTP_ACCEPT_TIMEOUT: return .connection(.stalled)
    case CURLE_FAILED_INIT where at.reply.contains("exchange encryption keys"):
      let reason =
        "the server and this machine's libssh2 have no algorithm in common (before version 1.11 libssh2 knows RSA "
        + "keys only with SHA-1, which OpenSSH refuses; an Ed25519 or ECDSA host key helps)"
      return .remote(.refused(host: at.host, reply: reason, isTransient: false))
    // libssh2's handshake and other failures of SSH's layers. A server's refusals have other codes, except for a failed
    // write, of which libcurl says nothing.
    case CURLE_SSH, CURLE_FAILED_INIT: return .connection(.broken(at.reply.isEmpty ? silence(at) : at.reply))
    case CURLE_PARTIAL_FILE where at.options.isFTP && (400..<500).contains(at.status) && at.status != 426:
      return .remote(.busy(host: at.host, reply: at.reply))
    case CURLE_UNSUPPORTED_PROTOCOL: return .unsupportedScheme(at.options.scheme)
    case CURLE_USE_SSL_FAILED:
      return .connection(.tls(host: at.host, reason: "the server does not offer TLS", isTransient: false))
    // These codes do not have their meaning for HTTP here: the attempt can no longer send or read.
    case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: return .connection(.broken(at.reply))
    default:
      return CurlError.translate(
        code, host: at.host, systemError: at.systemError, received: at.received, isConnected: at.isConnected)
    }
  }

  private static func silence(_ at: Situation) -> String {
    guard case .write = at.options.operation else { return "SSH failed" }
    return "SSH failed, or the server could not write (a quota may be used up)"
  }

  /// 530 is the reply to a wrong password and to too many users; the text decides.
  private static func login(_ at: Situation) -> TransferError.RemoteFailure {
    let isBusy = (400..<500).contains(at.status) || at.options.isFTP && saysBusy(at.reply)
    return isBusy ? .busy(host: at.host, reply: at.reply) : .loginDenied(host: at.host, reply: at.reply)
  }

  private static func refusal(_ at: Situation) -> TransferError.RemoteFailure {
    if (400..<500).contains(at.status) || saysBusy(at.reply) { return .busy(host: at.host, reply: at.reply) }
    return .refused(host: at.host, reply: at.reply, isTransient: false)
  }

  /// 550 is the reply for a missing file and for one that may not be read; the text decides.
  private static func file(_ code: CURLcode, _ at: Situation) -> TransferError.RemoteFailure {
    let (path, reply) = (at.options.path, at.reply)
    switch at.status {
    case 452, 552: return .storageFull(host: at.host, reply: reply)
    case 400..<500: return .busy(host: at.host, reply: reply)
    case 530, 532: return login(at)
    case 553: return .accessDenied(path: path, reply: reply)
    default: break
    }
    let text = reply.lowercased()
    if text.contains("no space") || text.contains("quota") { return .storageFull(host: at.host, reply: reply) }
    if text.contains("permission") || text.contains("denied") || text.contains("not allowed")
      || text.contains("forbidden") || text.contains("privilege")
    {
      // libcurl's own message for a missing directory.
      if !text.contains("change to the given directory") { return .accessDenied(path: path, reply: reply) }
    }
    if text.contains("directory") && (text.contains("is a directory") || text.contains("not a plain file")) {
      return .isDirectory(path: path)
    }
    let saysMissing = ["no such", "not found", "not exist", "cannot find", "can't find"].contains { text.contains($0) }
    switch code {
    case CURLE_REMOTE_FILE_NOT_FOUND: return .missing(path: path, reply: reply)
    case CURLE_REMOTE_ACCESS_DENIED:
      return at.options.isFTP || saysMissing
        ? .missing(path: path, reply: reply) : .accessDenied(path: path, reply: reply)
    case CURLE_FTP_COULDNT_RETR_FILE where at.status == 550: return .missing(path: path, reply: reply)
    case _ where saysMissing: return .missing(path: path, reply: reply)
    case CURLE_UPLOAD_FAILED where at.status == 550: return .accessDenied(path: path, reply: reply)
    default: return .refused(host: at.host, reply: reply, isTransient: false)
    }
  }

  private static func saysBusy(_ reply: String) -> Bool {
    let text = reply.lowercased()
    return text.hasPrefix("421")
      || ["too many", "maximum", "try again", "limit", "busy"].contains { text.contains($0) }
  }

  /// A server's text as it may be shown: without control characters and of limited length.
  static func printable(_ text: String) -> String {
    String(
      text.unicodeScalars.lazy.map { scalar in
        scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
          ? Character(" ") : Character(scalar)
      }.prefix(300)
    ).trimmingBlanks().description
  }
}

import CCurl
import Glibc

/// Translates libcurl's result codes (`libcurl-errors(3)`) into the engine's errors.
enum CurlError {
  /// libcurl's own limit for one header line (`CURL_MAX_HTTP_HEADER`).
  static let maximumLine = 100 * 1024

  /// - Parameters:
  ///   - systemError: `CURLINFO_OS_ERRNO`, the reason of a failed connection.
  ///   - received: body bytes that arrived.
  ///   - isConnected: whether the connection, including TLS, was ready.
  static func translate(
    _ code: CURLcode, host: String, systemError: Int32, received: Int64, isConnected: Bool
  ) -> TransferError {
    let text = String(cString: curl_easy_strerror(code))
    switch code {
    case CURLE_UNSUPPORTED_PROTOCOL: return .response(.malformed("not an HTTP/1 or HTTP/2 response"))
    case CURLE_URL_MALFORMAT: return .invalidURL(host, reason: text)
    case CURLE_COULDNT_RESOLVE_HOST: return .connection(.nameNotResolved(host: host))
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: return .connection(.proxy(.broken(proxy: host, reason: text)))
    case CURLE_COULDNT_CONNECT:
      let reason = systemError == 0 ? text : String(cString: strerror(systemError))
      return .connection(.refused(host: host, reason: reason))
    case CURLE_OPERATION_TIMEDOUT:
      // The connect timeout and the low-speed limit have the same code.
      return isConnected ? .connection(.stalled) : .connection(.timedOut(host: host))
    case CURLE_PARTIAL_FILE: return .response(.truncated(received: received, expected: nil))
    case CURLE_GOT_NOTHING: return .connection(.broken("the server closed it without a response"))
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_AGAIN, CURLE_HTTP2, CURLE_HTTP2_STREAM,
      CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR, CURLE_NO_CONNECTION_AVAILABLE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSH,
      CURLE_UNRECOVERABLE_POLL:
      return .connection(.broken(text))
    case CURLE_SSL_CONNECT_ERROR:
      // A handshake that the network interrupted looks the same as one that the peer refused.
      return .connection(.tls(host: host, reason: text, isTransient: true))
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_SSL_ENGINE_NOTFOUND,
      CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
      return .connection(.tls(host: host, reason: text, isTransient: false))
    // Receivers report their own failures. Any other write error comes from libcurl's decoder, for bytes after the end
    // of a gzip stream.
    case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: return .response(.undecodable(text))
    case CURLE_WEIRD_SERVER_REPLY: return .response(.malformed(text))
    case CURLE_FILESIZE_EXCEEDED: return .response(.invalidContentLength("too large"))
    case CURLE_TOO_MANY_REDIRECTS: return .redirect(.tooMany(limit: 0))
    case CURLE_OUT_OF_MEMORY where isConnected && received == 0:
      // libcurl 7.88 reports a header line above its own 100 KiB with this code.
      return .response(.headTooLarge(limit: maximumLine))
    // The reader reports its own failures; this one is libcurl's.
    case CURLE_READ_ERROR: return .file(.io("cannot read what is sent: \(text)", errno: EIO))
    case CURLE_FILE_COULDNT_READ_FILE: return .file(.io("cannot read the file \(host)", errno: EIO))
    case CURLE_INTERFACE_FAILED: return .connection(.refused(host: host, reason: text))
    case CURLE_FTP_ACCEPT_TIMEOUT: return .connection(.stalled)
    case CURLE_ABORTED_BY_CALLBACK: return .cancelled
    case _ where code.rawValue == TRANSFER_TOO_LARGE_CODE: return .response(.headTooLarge(limit: maximumLine))
    case _ where code.rawValue == TRANSFER_ECH_REQUIRED_CODE:
      return .connection(.tls(host: host, reason: text, isTransient: false))
    default:
      let note = notes[code] ?? (text: "libcurl: \(text)", isTransient: false)
      return .transport(code: Int(code.rawValue), message: note.text, isTransient: note.isTransient)
    }
  }

  /// Codes without their own case in `TransferError`: codes of protocols that are translated before, codes of protocols
  /// that are not used, and libcurl's internal errors. A code that is missing here is unknown and not retried.
  private static let notes: [CURLcode: (text: String, isTransient: Bool)] = [
    CURLE_FAILED_INIT: ("libcurl could not begin: memory, threads or descriptors are short", true),
    CURLE_NOT_BUILT_IN: ("this libcurl was built without what the request needs", false),
    CURLE_REMOTE_ACCESS_DENIED: ("the server does not give access to it", false),
    CURLE_FTP_ACCEPT_FAILED: ("the FTP server did not connect back", true),
    CURLE_FTP_WEIRD_PASS_REPLY: ("the FTP server's reply to the password is invalid", false),
    CURLE_FTP_WEIRD_PASV_REPLY: ("the FTP server's reply to PASV is invalid", false),
    CURLE_FTP_WEIRD_227_FORMAT: ("the FTP server's reply to PASV is invalid", false),
    CURLE_FTP_CANT_GET_HOST: ("the FTP server named an address for data that cannot be found", false),
    CURLE_FTP_COULDNT_SET_TYPE: ("the FTP server does not send the file as it is", false),
    CURLE_FTP_COULDNT_RETR_FILE: ("the FTP server does not send the file", false),
    CURLE_QUOTE_ERROR: ("the server refused a command", false),
    CURLE_HTTP_RETURNED_ERROR: ("the server answered with an error", false),
    CURLE_UPLOAD_FAILED: ("the server does not take the file", false),
    CURLE_OUT_OF_MEMORY: ("libcurl ran out of memory", true),
    CURLE_FTP_PORT_FAILED: ("the FTP server cannot connect back", false),
    CURLE_FTP_COULDNT_USE_REST: ("the FTP server does not begin in the middle of a file", true),
    CURLE_RANGE_ERROR: ("the server does not send a part of the file", true),
    CURLE_HTTP_POST_ERROR: ("libcurl could not put the form together", false),
    CURLE_BAD_DOWNLOAD_RESUME: ("the server's file is shorter than the part that is on disk", true),
    CURLE_LDAP_CANNOT_BIND: ("the LDAP server refused the login", false),
    CURLE_LDAP_SEARCH_FAILED: ("the LDAP search failed", false),
    CURLE_LOGIN_DENIED: ("the server refused the user name or the password", false),
    CURLE_AUTH_ERROR: ("the authentication failed", false),
    CURLE_TFTP_NOTFOUND: ("the file does not exist on the TFTP server", false),
    CURLE_TFTP_PERM: ("the TFTP server does not permit it", false),
    CURLE_REMOTE_DISK_FULL: ("the server's disk is full", true),
    CURLE_TFTP_ILLEGAL: ("the TFTP server does not know the operation", false),
    CURLE_TFTP_UNKNOWNID: ("the TFTP server lost the transfer", true),
    CURLE_REMOTE_FILE_EXISTS: ("the file exists on the server", false),
    CURLE_TFTP_NOSUCHUSER: ("the TFTP server does not know the user", false),
    CURLE_REMOTE_FILE_NOT_FOUND: ("the file does not exist on the server", false),
    CURLE_FTP_PRET_FAILED: ("the FTP server refused PRET", false),
    CURLE_RTSP_CSEQ_ERROR: ("the RTSP responses are out of order", false),
    CURLE_RTSP_SESSION_ERROR: ("the RTSP response belongs to another session", false),
    CURLE_FTP_BAD_FILE_LIST: ("the FTP server's list of files cannot be read", false),
    CURLE_CHUNK_FAILED: ("a file of the list was refused", false),
    CURLE_FUNCTION_NOT_FOUND: ("this libcurl lacks a function", false),
    CURLE_BAD_FUNCTION_ARGUMENT: ("libcurl was called wrongly (a bug of the engine)", false),
    CURLE_UNKNOWN_OPTION: ("this libcurl does not know an option that the request needs", false),
    CURLE_SETOPT_OPTION_SYNTAX: ("libcurl was given an option that it cannot read (a bug of the engine)", false),
    CURLE_RECURSIVE_API_CALL: ("libcurl was called from within a callback (a bug of the engine)", false),
  ]
}

// Imported C enumerations are not hashable by default.
extension CURLcode: @retroactive Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

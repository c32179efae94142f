import CCurl
import Glibc

/// libcurl's reasons for `CURLE_PROXY` (`CURLINFO_PROXY_ERROR(3)`), most of them replies of a SOCKS server (RFC 1928
/// §6).
enum SOCKSReply {
  static func failure(_ reply: UInt32, proxy: String, host: String) -> TransferError.ConnectionFailure {
    switch CURLproxycode(reply) {
    case CURLPX_USER_REJECTED, CURLPX_NO_AUTH, CURLPX_REQUEST_FAILED, CURLPX_IDENTD, CURLPX_IDENTD_DIFFER,
      CURLPX_UNKNOWN_MODE:
      return .proxy(.authenticationRequired(proxy: proxy))
    case CURLPX_RESOLVE_HOST: return .nameNotResolved(host: host)
    case CURLPX_REPLY_NOT_ALLOWED: return refused("its rules forbid it", isTransient: false, proxy)
    case CURLPX_REPLY_COMMAND_NOT_SUPPORTED, CURLPX_REPLY_ADDRESS_TYPE_NOT_SUPPORTED, CURLPX_LONG_HOSTNAME:
      return refused("it does not support this kind of request", isTransient: false, proxy)
    case CURLPX_REPLY_CONNECTION_REFUSED: return refused("\(host) refused the connection", isTransient: true, proxy)
    case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
      return refused("it cannot reach \(host)", isTransient: true, proxy)
    case CURLPX_REPLY_GENERAL_SERVER_FAILURE: return refused("it failed", isTransient: true, proxy)
    case CURLPX_BAD_VERSION, CURLPX_BAD_ADDRESS_TYPE, CURLPX_UNKNOWN_FAIL, CURLPX_REPLY_UNASSIGNED:
      return refused("it breaks the SOCKS protocol", isTransient: false, proxy)
    default: return .proxy(.broken(proxy: proxy, reason: "it closed the connection"))
    }
  }

  private static func refused(
    _ reason: String, isTransient: Bool, _ proxy: String
  ) -> TransferError.ConnectionFailure {
    .proxy(.refused(proxy: proxy, reason: reason, isTransient: isTransient))
  }
}

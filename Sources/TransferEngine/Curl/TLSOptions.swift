import CCurl

/// The options for TLS with the origin, or the corresponding ones for a proxy.
struct TLSOptions {
  var version: CURLoption
  var verifyPeer: CURLoption
  var verifyHost: CURLoption
  var authorityFile: CURLoption
  var authorityDirectory: CURLoption
  var authorities: CURLoption
  var pins: CURLoption
  var revocationList: CURLoption

  static let origin = TLSOptions(
    version: CURLOPT_SSLVERSION, verifyPeer: CURLOPT_SSL_VERIFYPEER, verifyHost: CURLOPT_SSL_VERIFYHOST,
    authorityFile: CURLOPT_CAINFO, authorityDirectory: CURLOPT_CAPATH, authorities: CURLOPT_CAINFO_BLOB,
    pins: CURLOPT_PINNEDPUBLICKEY, revocationList: CURLOPT_CRLFILE)
  static let proxy = TLSOptions(
    version: CURLOPT_PROXY_SSLVERSION, verifyPeer: CURLOPT_PROXY_SSL_VERIFYPEER,
    verifyHost: CURLOPT_PROXY_SSL_VERIFYHOST, authorityFile: CURLOPT_PROXY_CAINFO,
    authorityDirectory: CURLOPT_PROXY_CAPATH, authorities: CURLOPT_PROXY_CAINFO_BLOB,
    pins: CURLOPT_PROXY_PINNEDPUBLICKEY, revocationList: CURLOPT_PROXY_CRLFILE)
}

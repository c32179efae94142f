import CCurl

/// Who the request is from.
extension Transfer {
  func configureCredential() {
    guard let credential = request.credential else { return }
    switch credential {
    case .basic: handle.set(CURLOPT_HTTPAUTH, TRANSFER_AUTH_BASIC)
    case .digest: handle.set(CURLOPT_HTTPAUTH, TRANSFER_AUTH_DIGEST)
    case .negotiateAny: handle.set(CURLOPT_HTTPAUTH, TRANSFER_AUTH_BASIC | TRANSFER_AUTH_DIGEST)
    case .bearer: return  // a field of the request
    }
    guard let credentials = credential.credentials else { return }
    handle.set(CURLOPT_USERNAME, credentials.username)
    handle.set(CURLOPT_PASSWORD, credentials.password)
  }

  /// Whether libcurl may answer this head itself, with another request on the same handle. It is then not for the
  /// receiver; what follows tells.
  func mayBeChallenge(_ head: ResponseHead) -> Bool {
    switch head.status {
    case 401: request.credential?.awaitsChallenge ?? false
    case 407: awaitsProxyChallenge
    default: false
    }
  }
}

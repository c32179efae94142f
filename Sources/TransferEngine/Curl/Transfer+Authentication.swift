import CCurl

/// Credentials of one transfer.
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

  /// Whether libcurl may respond to this head itself, with another request on the same handle. The receiver does not
  /// get such a head; what follows decides.
  func mayBeChallenge(_ head: ResponseHead) -> Bool {
    switch head.status {
    case 401: request.credential?.awaitsChallenge ?? false
    case 407: awaitsProxyChallenge
    default: false
    }
  }
}

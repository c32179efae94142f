import CCurl
import Digests
import FoundationEssentials

/// TLS: verifies the server, and presents the client certificate.
extension Transfer {
  func configureTrust(_ context: UnsafeMutableRawPointer) throws(TransferError) {
    let policy = try request.trust.get()
    handle.set(policy, request, TLSOptions.origin)
    if let identity = request.clientIdentity { handle.set(identity) }
    if policy.certificates != nil { handle.set(CURLOPT_CERTINFO, true) }
    guard request.remote == nil || policy.certificates != nil || request.addresses != .any else { return }
    handle.set(CURLOPT_PREREQDATA, context)
    handle.setReady { context, peer, _, _, _ in
      Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue().ready(peer)
    }
  }

  /// Called when the connection is ready and nothing of the request has been sent.
  private func ready(_ peer: UnsafePointer<CChar>?) -> Int32 {
    guard mayUse(connectionTo: peer) else { return CURL_PREREQFUNC_ABORT }
    let isReused = handle.long(CURLINFO_NUM_CONNECTS) == 0
    if takeConnection(), isReused {
      needsNewConnection = true
      return CURL_PREREQFUNC_ABORT
    }
    watchReading(isNew: !isReused)
    guard case .success(let policy) = request.trust, let pinned = policy.certificates else { return CURL_PREREQFUNC_OK }
    // A reused connection was checked when it was made: its pins, and with them these certificates, are part of
    // libcurl's key for connections.
    if isReused { return CURL_PREREQFUNC_OK }
    if let certificate = handle.peerCertificate, pinned.contains(certificate) { return CURL_PREREQFUNC_OK }
    failure = .serverTrust(.certificatePinningFailed(host: request.host))
    return CURL_PREREQFUNC_ABORT
  }

  /// The meaning of libcurl's code under this request's policy; `nil` if it has its usual meaning.
  func trustFailure(_ code: CURLcode) -> TransferError? {
    guard code == CURLE_SSL_PINNEDPUBKEYNOTMATCH, case .success(let policy) = request.trust else { return nil }
    return policy.certificates == nil
      ? .serverTrust(.publicKeyPinningFailed(host: request.host))
      : .serverTrust(.certificatePinningFailed(host: request.host))
  }
}

extension EasyHandle {
  /// Every option here is part of libcurl's key for reusable connections (`Curl_ssl_config_matches`), so that a
  /// connection that was made under one policy is not used under another.
  func set(_ policy: TrustPolicy, _ request: WireRequest, _ options: TLSOptions) {
    set(options.version, request.minimumTLSVersion == .v1_3 ? TRANSFER_SSLVERSION_TLSv1_3 : TRANSFER_SSLVERSION_TLSv1_2)
    set(options.verifyPeer, policy.authorities != .anybody)
    set(options.verifyHost, policy.validatesHost ? 2 : 0)  // 2: the name must match (CURLOPT_SSL_VERIFYHOST(3))
    switch policy.authorities {
    case .anybody: break
    case .system:
      guard let file = request.certificateAuthorityFile else { break }
      set(options.authorityFile, file)
      // libcurl's default directory of authorities would be trusted in addition to the file.
      clear(options.authorityDirectory)
    case .certificates(let certificates):
      set(options.authorities, blob: Data(certificates.map(\.pem).joined().utf8))
      clear(options.authorityFile)
      clear(options.authorityDirectory)
    }
    if let pins = policy.pins { set(options.pins, pins) }
    if let file = policy.revocationListFile {
      set(options.revocationList, file)
      // A resumed session is not checked against the revocation list again.
      set(CURLOPT_SSL_SESSIONID_CACHE, false)
    }
  }

  func set(_ identity: ClientIdentity) {
    switch identity.source {
    case .pemFiles(let certificate, let key):
      set(CURLOPT_SSLCERT, certificate)
      set(CURLOPT_SSLKEY, key)
    case .pem(let certificate, let key):
      // libcurl compares certificates before it reuses a connection, and no private keys: a request with another key
      // must not use a connection for which the right one was shown. OpenSSL skips text outside the blocks.
      let mark = "\n\(HashFunction.sha256.digest(of: key).hex)\n"
      set(CURLOPT_SSLCERT_BLOB, blob: certificate + Data(mark.utf8))
      set(CURLOPT_SSLKEY_BLOB, blob: key)
    case .pkcs12File(let path):
      set(CURLOPT_SSLCERTTYPE, "P12")
      set(CURLOPT_SSLCERT, path)
    case .pkcs12(let data):
      set(CURLOPT_SSLCERTTYPE, "P12")
      set(CURLOPT_SSLCERT_BLOB, blob: data)
    }
    // Without a passphrase OpenSSL would ask for one on the terminal.
    set(CURLOPT_KEYPASSWD, identity.passphrase ?? "")
  }

  /// The certificate that the server presented in the handshake of this transfer (`CURLINFO_CERTINFO(3)`).
  var peerCertificate: Certificate? {
    var chain: UnsafeMutablePointer<curl_certinfo>?
    guard transfer_getinfo_certificates(pointer, &chain) == CURLE_OK, let chain, chain.pointee.num_of_certs > 0 else {
      return nil
    }
    var entry = chain.pointee.certinfo[0]
    while let current = entry {
      if let data = current.pointee.data, case let text = String(cString: data), text.hasPrefix("Cert:") {
        return try? Certificate.certificates(inPEM: String(text.dropFirst(5))).first
      }
      entry = current.pointee.next
    }
    return nil
  }
}

extension TrustPolicy {
  /// The value of `CURLOPT_PINNEDPUBLICKEY`. For pinned certificates it also has their digest as a pin that no key can
  /// have: it separates the connections of this policy from those of policies that pin the same keys.
  var pins: String? {
    guard publicKeys != nil || certificates != nil else { return nil }
    var keys = publicKeys ?? Set((certificates ?? []).map(\.publicKeyPin))
    if publicKeys != nil, let certificates { keys.formIntersection(certificates.map(\.publicKeyPin)) }
    let bodies = (certificates ?? []).map { $0.der.hex }.sorted()
    let mark = PublicKeyPin(subjectPublicKeyInfo: Data(bodies.joined(separator: ",").utf8))
    return (keys.map(\.description).sorted() + [mark.description]).joined(separator: ";")
  }
}

import CCurl
import CLinux
import Glibc

/// Checks the address of each connection before anything is sent over it.
extension Transfer {
  /// A new connection is checked before `connect` (CURLOPT_OPENSOCKETFUNCTION(3)), FTP's data connections too. A pooled
  /// connection, which another request may have made under another rule, is checked before the request is sent
  /// (CURLOPT_PREREQFUNCTION(3)). With a proxy the address is the proxy's: see `refusalBeforeProxy()`.
  func configureAddresses(_ context: UnsafeMutableRawPointer) {
    guard request.addresses != .any, request.proxy == nil else { return }
    handle.set(CURLOPT_OPENSOCKETDATA, context)
    handle.setOpenSocket(CurlCallbacks.openSocket)
  }

  /// - Returns: a new socket; `CURL_SOCKET_BAD` for a refused address, after which libcurl tries the host's next
  ///   address.
  func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    if let socketAddress = address.pointer(to: \.addr), let peer = IPAddress(UnsafePointer(socketAddress)),
      peer.isPublic
    {
      isAddressPermitted = true
      let target = address.pointee
      return socket(target.family, target.socktype | Int32(SOCK_CLOEXEC.rawValue), target.protocol)
    }
    refusedAddress = address.pointer(to: \.addr).flatMap { IPAddress(UnsafePointer($0)) } ?? refusedAddress
    return TRANSFER_SOCKET_BAD
  }

  /// Whether the connection leads to a permitted address.
  /// - Parameter peer: the address as libcurl writes it.
  func mayUse(connectionTo peer: UnsafePointer<CChar>?) -> Bool {
    guard request.addresses != .any, request.proxy == nil else { return true }
    let address = peer.flatMap { IPAddress(String(cString: $0)) }
    if let address, address.isPublic { return true }
    failure = request.refusal(of: address)
    return false
  }

  /// The error if a failure means that no address of the host was permitted.
  func addressFailure(_ code: CURLcode) -> TransferError? {
    guard code != CURLE_OK, !isAddressPermitted, let refusedAddress else { return nil }
    return request.refusal(of: refusedAddress)
  }
}

extension CurlCallbacks {
  static let openSocket: transfer_open_socket_callback = { context, _, address in
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue().openSocket(address!)
  }
}

extension WireRequest {
  /// The error for a host with this address; `nil` for an address that cannot be read.
  func refusal(of address: IPAddress?) -> TransferError {
    let place = address.map { "\($0) is a \($0.scope?.rawValue ?? "public") address" } ?? "its address cannot be read"
    return refusal(because: place)
  }

  func refusal(because place: String) -> TransferError {
    guard case .publicOnly(namedByServer: true) = addresses else {
      return .connection(.addressRefused(host: host, reason: place))
    }
    return .redirect(.refused(to: host, reason: "\(place), and only public ones are followed"))
  }

  /// A proxy connects to the host and does not report to which address. So the addresses of the host's name are checked
  /// here before the proxy is used, and one address that is not public is enough to refuse. A name that only the proxy
  /// can resolve is left to the proxy's own rules.
  func refusalBeforeProxy() async -> TransferError? {
    guard addresses != .any, proxy != nil else { return nil }
    let url: RequestURL
    do {
      url = try RequestURL(self.url)
    } catch {
      return error
    }
    if let place = url.nonPublicHost { return refusal(because: place) }
    guard IPAddress(url.host) == nil else { return nil }
    let resolved = try? await BlockingIO.run { () throws(TransferError) in IPAddress.all(ofHost: url.host) }
    return resolved?.first { !$0.isPublic }.map { refusal(of: $0) }
  }
}

extension IPAddress {
  /// The current addresses of a name; none if it cannot be resolved. Blocks: call it in `BlockingIO`.
  static func all(ofHost name: String) -> [IPAddress] {
    var hints = addrinfo()
    hints.ai_socktype = linux_stream_socket
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    return sequence(first: first) { $0?.pointee.ai_next }.prefix { $0 != nil }
      .compactMap { $0?.pointee.ai_addr.flatMap { IPAddress(UnsafePointer($0)) } }
  }
}

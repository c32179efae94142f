import HTTPTypes
import WireValues

extension RemoteOptions {
  init(_ request: TransferRequest, _ configuration: SessionConfiguration) {
    let url = request.url
    scheme = url.wireScheme
    host = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
    port = url.port
    path = String(decoding: url.path.percentDecodedBytes ?? [], as: UTF8.self)
    ftpSecurity = url.scheme == "ftpes" ? .required : request.ftpSecurity ?? configuration.ftpSecurity
    ssh = request.ssh ?? configuration.ssh
    usesAmbientCredentials = request.usesAmbientCredentials
    isIsolated = request.ssh.map { $0 != configuration.ssh } ?? false
    isMachineList = request.method == .machineList
    if request.body != nil {
      operation = .write(Write())
    } else {
      operation = request.method == .head ? .facts : .read(from: 0)
    }
  }
}

extension HTTPRequest.Method {
  /// For FTP: the directory's entries with their facts (RFC 3659 §7), instead of lines for people.
  static let machineList = Self("MLSD")!
}

import Store
import TransferAPI
import TransferEngine

extension JobValidation {
  /// Checks what the engine will read: the URL of the proxy and the addresses of hosts.
  static func checkNetwork(_ options: JobOptions.Network) throws(Problem) {
    do throws(TransferError) {
      _ = try ProxyChoice(options)
    } catch {
      throw Problem(.invalid, text: "\(field: "proxy"): \(error)")
    }
    for text in options.resolve {
      do throws(TransferError) {
        _ = try HostAddress(text)
      } catch .invalidURL(let entry, let reason) {
        throw Problem(.invalid, text: "cannot use \(field: "resolve") \"\(entry)\": \(reason)")
      } catch {
        throw Problem(.invalid, text: "\(field: "resolve"): \(error)")
      }
    }
  }

  /// Checks that the caller may choose the way to the server: a proxy, a host's address, an interface or no certificates.
  func checkRoute(_ options: JobOptions.Network) throws(Problem) {
    let named = [
      ("proxy", options.proxy != nil), ("resolve", !options.resolve.isEmpty), ("insecure", options.insecure),
      ("interface", options.interface != nil),
    ].first { $0.1 }
    guard let named, !caller.has(.route) else { return }
    throw Problem(.permission, text: "cannot use \(field: named.0): only the user that runs transferd, and root, may")
  }
}

import FoundationEssentials
import Glibc
import TransferAPI
import TransferEngine

/// What the files say that a job's options name: certificates and cookies.
struct ConnectionFiles: Sendable {
  var trust: TrustPolicy?
  var identity: ClientIdentity?
  var cookies: [Cookie] = []

  /// A file that cannot be used. The description names the file, the option and the reason, but nothing of the content.
  struct Unusable: Error, Equatable, CustomStringConvertible {
    enum Reason: Equatable, Sendable {
      /// The daemon may not read it, or the caller may not name it.
      case permission
      /// It is missing, or cannot be read for another reason: both may pass.
      case unreadable
      /// Its content is wrong, or it is no file.
      case invalid
    }

    /// What is wrong, with a place for the option's name.
    let text: FieldText
    let reason: Reason

    var description: String { text.description }
  }

  /// The largest PEM file that is read: several times the size of the system's bundle.
  private static let maximumPEMBytes = 4 << 20

  /// Reads the files. Blocks.
  /// - Parameter rules: where they may be.
  init(_ options: JobOptions.Network, rules: PathRules) throws(Unusable) {
    if let path = options.ca {
      let pem = String(decoding: try Self.contents("ca", path, Self.maximumPEMBytes, rules), as: UTF8.self)
      do {
        trust = TrustPolicy(authorities: .certificates(try Certificate.certificates(inPEM: pem)))
      } catch {
        throw Self.invalid("ca", path, "\(error)")
      }
    }
    if let path = options.cert {
      let certificate = try Self.contents("cert", path, Self.maximumPEMBytes, rules)
      let keyFile = try options.certKey.map { path throws(Unusable) in
        try Self.contents("certKey", path, Self.maximumPEMBytes, rules)
      }
      do {
        identity = try ClientIdentity(certificatePEM: certificate, keyPEM: keyFile)
      } catch .noKey where options.certKey == nil {
        throw Self.invalid("cert", path, "it holds no private key; name the key's file with \(field: "certKey")")
      } catch .noCertificate {
        throw Self.invalid("cert", path, "\(ClientIdentity.InvalidPEM.noCertificate)")
      } catch {
        throw Self.invalid(options.certKey == nil ? "cert" : "certKey", options.certKey ?? path, "\(error)")
      }
    }
    if let path = options.cookies {
      let data = try Self.contents("cookies", path, Cookie.maximumFileBytes, rules)
      guard let text = String(validating: data, as: UTF8.self) else {
        throw Self.invalid("cookies", path, "it is not UTF-8 text")
      }
      do {
        cookies = try Cookie.cookies(inNetscape: text)
      } catch {
        throw Self.invalid("cookies", path, "\(error)")
      }
    }
  }

  private static func contents(
    _ option: String, _ path: String, _ limit: Int, _ rules: PathRules
  ) throws(Unusable) -> Data {
    do {
      return try SmallFile.read(path, atMost: limit, rules: rules)
    } catch .file(.permission(let text)) {
      throw Unusable(text: "\(field: option): \(text)", reason: .permission)
    } catch .file(.io(let text, errno: let code)) where [EFBIG, EINVAL, EISDIR].contains(code) {
      throw Unusable(text: "\(field: option): \(text)", reason: .invalid)
    } catch {
      throw Unusable(text: "\(field: option): \(error)", reason: .unreadable)
    }
  }

  private static func invalid(_ option: String, _ path: String, _ reason: FieldText) -> Unusable {
    Unusable(text: "\(field: option): cannot use \(path): \(reason)", reason: .invalid)
  }
}

import Foundation
import Glibc

/// A real nginx on 127.0.0.1 that serves a temporary directory.
///
/// ```swift
/// let nginx = try await Nginx()
/// try payload.write(to: nginx.root + "/a.iso")
/// … nginx.url("/a.iso") …
/// ```
public final class Nginx: Sendable {
  /// The differences from a plain HTTP file server.
  public struct Options: Sendable {
    /// Serve TLS with this certificate.
    public var certificates: TestCertificates?
    /// Offer HTTP/2, for which TLS must be on.
    public var http2 = false
    /// Allow PUT, DELETE and MKCOL into the directory.
    public var uploads = false
    /// The rate limit per connection in bytes per second; `nil` is no limit.
    public var bytesPerSecond: Int?
    /// Additional directives for the `server` block.
    public var directives = ""

    public init(
      certificates: TestCertificates? = nil, http2: Bool = false, uploads: Bool = false,
      bytesPerSecond: Int? = nil, directives: String = ""
    ) {
      self.certificates = certificates
      self.http2 = http2
      self.uploads = uploads
      self.bytesPerSecond = bytesPerSecond
      self.directives = directives
    }
  }

  /// The served directory.
  public let root: String
  public let port: UInt16
  public let options: Options
  private let directory: TemporaryDirectory
  private let process: ChildProcess

  /// Starts nginx and waits until it accepts connections. Throws when there is no nginx.
  public init(_ options: Options = Options()) async throws {
    let program = try BuiltPrograms.system("nginx")
    self.options = options
    directory = try TemporaryDirectory()
    // Without root the workers run as the test's user; with root they run as root, which can read 0700.
    root = try directory.directory("www")
    try directory.directory("tmp")
    var lastError: any Error = TestSupportError.missingProgram("nginx", searched: [])
    // Another program may take the port before nginx binds it: retry with another port.
    for _ in 0..<5 {
      let port = try freePort()
      try directory.file("nginx.conf", text: options.configuration(in: directory.path, root, port))
      let launch = Launch(
        program,
        ["-p", directory.path, "-c", directory.path("nginx.conf"), "-e", directory.path("error.log")])
      let process = try ChildProcess(launch)
      do {
        try await Self.waitUntilReady(process, directory.path("nginx.pid"))
      } catch {
        lastError = error
        continue
      }
      self.port = port
      self.process = process
      return
    }
    throw lastError
  }

  deinit { process.signalGroup(SIGKILL) }

  /// The URL of a path, which begins with `/`.
  public func url(_ path: String) -> String {
    "\(options.certificates == nil ? "http" : "https")://127.0.0.1:\(port)\(path)"
  }

  /// The lines of the access log: `METHOD TARGET STATUS BYTES "RANGE" PROTOCOL`.
  ///
  /// A line is written when its request has ended, which may be slightly after the client has the response. After
  /// `stop()` all lines are written.
  public var accessLog: [String] {
    let text = (try? String(contentsOfFile: directory.path("access.log"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// Stops nginx after its running requests (SIGQUIT), or at once after `grace`.
  public func stop(grace: Duration = .seconds(30)) async throws {
    process.kill(SIGQUIT)
    if (try? await process.result(timeout: grace)) == nil {
      process.signalGroup(SIGKILL)
      _ = try await process.result()
    }
  }
}

extension Nginx.Options {
  fileprivate func configuration(in directory: String, _ root: String, _ port: UInt16) -> String {
    var server: [String] = [
      "listen 127.0.0.1:\(port)\(certificates == nil ? "" : " ssl")\(http2 ? " http2" : "");"
    ]
    if let certificates {
      server.append("ssl_certificate \(certificates.certificate);")
      server.append("ssl_certificate_key \(certificates.key);")
    }
    if uploads { server.append("dav_methods PUT DELETE MKCOL; create_full_put_path on;") }
    if let bytesPerSecond { server.append("limit_rate \(bytesPerSecond);") }
    server.append(directives)
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "  \($0)_temp_path \(directory)/tmp/\($0);"
    }
    return """
      daemon off;
      master_process on;
      worker_processes 1;
      pid \(directory)/nginx.pid;
      \(geteuid() == 0 ? "user root;" : "")
      events { worker_connections 1024; }
      http {
      \(temporary.joined(separator: "\n"))
        log_format test '$request_method $request_uri $status $body_bytes_sent "$http_range" $server_protocol';
        access_log \(directory)/access.log test;
        default_type application/octet-stream;
        client_max_body_size 0;
        sendfile on;
        server {
          root \(root);
          \(server.joined(separator: "\n    "))
        }
      }

      """
  }
}

extension Nginx {
  /// Waits until nginx has written its pid file, which it does when it listens, or until it ends.
  ///
  /// A foreign program cannot report that it is ready: this polls.
  private static func waitUntilReady(_ process: ChildProcess, _ pidFile: String) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
      guard process.isRunning else {
        throw TestSupportError.failed(program: "nginx", reason: try await process.result().stderr)
      }
      let written = try? String(contentsOfFile: pidFile, encoding: .utf8)
      if written?.trimmingCharacters(in: .whitespacesAndNewlines) == String(process.pid) { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw TestSupportError.timedOut("nginx to be ready", after: .seconds(10))
  }
}

/// A port of 127.0.0.1 that is free at this moment.
func freePort() throws -> UInt16 {
  let (descriptor, port) = try listenOnLoopback()
  close(descriptor)
  return port
}

import Foundation
import Glibc

/// A scripted HTTP/2 server on 127.0.0.1 with TLS. It serves a file and interrupts it like real HTTP/2 servers.
///
/// It uses Debian's package `python3-h2` and the system's Python. The query selects the fault:
/// `?fault=NAME&after=BYTES`, with `&times=N` only for the first N requests of that path. Without `Content-Length` if
/// there is `length=0`. HEAD reports the length `head`, which grows with each request if there is `growing=1`, and the
/// ETag `tag`. Other responses have the ETag `v1`.
///
/// To a client that offers only HTTP/1.1 the file's end is that of the connection; with `notice=0` without TLS's notice
/// of that. HEAD is refused if there is no `head`.
public final class H2Server: Sendable {
  public let port: UInt16
  private let process: ChildProcess
  private let directory: TemporaryDirectory

  /// - Parameter requiresClient: whether clients need a certificate by the same authority.
  public init(_ certificates: TestCertificates, serving content: Data, requiresClient: Bool = false) async throws {
    directory = try TemporaryDirectory()
    let script = try directory.file("server.py", text: Self.script)
    let file = try directory.file("content", content)
    let authority = requiresClient ? [certificates.authority] : []
    process = try ChildProcess(
      Launch("/usr/bin/python3", ["-u", script, certificates.certificate, certificates.key, file] + authority))
    do {
      try await process.waitForOutput("\n", timeout: .seconds(60))
    } catch {
      throw TestSupportError.failed(
        program: "the HTTP/2 server (apt-get install python3-h2)", reason: "\(error): \(process.errorsSoFar)")
    }
    let number = process.outputSoFar.dropFirst("listening ".count).prefix { $0.isNumber }
    guard let port = UInt16(number) else {
      throw TestSupportError.failed(program: "the HTTP/2 server", reason: process.outputSoFar)
    }
    self.port = port
  }

  deinit { process.signalGroup(SIGKILL) }

  public func url(_ target: String) -> String { "https://127.0.0.1:\(port)\(target)" }

  /// A line `METHOD TARGET RANGE` for each request.
  public var requests: [String] {
    process.outputSoFar.split(separator: "\n").dropFirst().map(String.init)
  }

  private static let script = """
    import socket, ssl, sys, threading, time
    from urllib.parse import urlsplit, parse_qs
    import h2.config, h2.connection, h2.events, h2.errors

    content = open(sys.argv[3], "rb").read()
    seen, heads, lock = {}, {}, threading.Lock()

    def answer(connection, sock, stream, headers):
        target = headers[":path"]
        path = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(path.query).items()}
        print(headers[":method"], target, headers.get("range", "-"), flush=True)
        if headers[":method"] == "HEAD":
            length = int(query.get("head", len(content)))
            with lock:
                heads[path.path] = heads.get(path.path, 0) + 1
                if "growing" in query:
                    length += heads[path.path]
            fields = [(":status", "200"), ("content-length", str(length))]
            if "tag" in query:
                fields.append(("etag", '"%s"' % query["tag"]))
            connection.send_headers(stream, fields, end_stream=True)
            return False
        with lock:
            count = seen[path.path] = seen.get(path.path, 0) + 1
        fault = query.get("fault") if count <= int(query.get("times", "1000000")) else None
        start = int(headers["range"][6:].split("-")[0]) if "range" in headers else 0
        body = content[start:]
        fields = [(":status", "206" if start else "200"), ("etag", '"v1"'), ("accept-ranges", "bytes")]
        if query.get("length", "1") == "1":
            fields.append(("content-length", str(len(body))))
        if start:
            fields.append(("content-range", "bytes %d-%d/%d" % (start, len(content) - 1, len(content))))
        connection.send_headers(stream, fields)
        end = int(query.get("after", "0")) if fault else len(body)
        for at in range(0, end, 16384):
            connection.send_data(stream, body[at:min(end, at + 16384)])
            sock.sendall(connection.data_to_send())
            time.sleep(float(query.get("pace", "0")))
        if fault is None:
            connection.end_stream(stream)
        elif fault == "reset":
            connection.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
        elif fault == "silently":
            connection.reset_stream(stream, h2.errors.ErrorCodes.NO_ERROR)
        elif fault == "refused":
            connection.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        elif fault == "silence":
            sock.sendall(connection.data_to_send())
            threading.Event().wait()
        elif fault == "empty":
            sock.sendall(connection.data_to_send())
            frame = bytes(5) + stream.to_bytes(4, "big")
            while True:
                sock.sendall(frame * 4000)
        elif fault == "goaway":
            connection.close_connection(h2.errors.ErrorCodes.NO_ERROR, last_stream_id=0)
        sock.sendall(connection.data_to_send())
        return fault in ("goaway", "eof")

    def serve(sock):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        sock.sendall(connection.data_to_send())
        while True:
            data = sock.recv(65536)
            if not data:
                return
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    if answer(connection, sock, event.stream_id, dict(event.headers)):
                        return
            sock.sendall(connection.data_to_send())

    def serve_1(sock):
        request = b""
        while b"\\r\\n\\r\\n" not in request:
            data = sock.recv(65536)
            if not data:
                return
            request += data
        method, target = request.decode().split(" ")[:2]
        print(method, target, "-", flush=True)
        query = parse_qs(urlsplit(target).query)
        end = "Connection: close\\r\\n\\r\\n"
        if method != "HEAD":
            sock.sendall(("HTTP/1.1 200 OK\\r\\n" + end).encode() + content)
        elif "head" in query:
            sock.sendall(("HTTP/1.1 200 OK\\r\\nContent-Length: %s\\r\\n" % query["head"][0] + end).encode())
        else:
            sock.sendall(("HTTP/1.1 405 Method Not Allowed\\r\\nContent-Length: 0\\r\\n" + end).encode())
        if "notice" not in query:
            sock.unwrap()

    def run(sock):
        try:
            with context.wrap_socket(sock, server_side=True) as tls:
                serve(tls) if tls.selected_alpn_protocol() == "h2" else serve_1(tls)
        except (OSError, ssl.SSLError):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["h2", "http/1.1"])
    if len(sys.argv) > 4:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(sys.argv[4])
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening", listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=run, args=(listener.accept()[0],), daemon=True).start()

    """
}

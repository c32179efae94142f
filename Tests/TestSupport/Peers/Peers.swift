import Foundation

extension PythonPeer {
  /// tuspyserver: tus 1.0.0 with creation, creation-with-upload, expiration, termination and concatenation, at `/files/`.
  /// An upload's bytes are the file of its id.
  public static func tus(in directory: TemporaryDirectory? = nil) async throws -> PythonPeer {
    try await PythonPeer("tuspyserver", in: directory) { port, directory in
      [
        "-c",
        """
        import sys, uvicorn
        from fastapi import FastAPI
        from tuspyserver import create_tus_router
        import tuspyserver.request as locking
        # It waits for a lock on its only thread, so the owner of the lock cannot release it: limit the wait.
        acquire = locking.acquire_upload_lock
        locking.acquire_upload_lock = lambda path, locks_dir=None, blocking=True: acquire(
          path, locks_dir=locks_dir, timeout=0.05)
        app = FastAPI()
        app.include_router(create_tus_router(prefix="files", files_dir=sys.argv[2] + "/uploads"))
        uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
        """, String(port), directory,
      ]
    }
  }

  /// nanio: S3 that verifies signatures (user `nanio-user`, secret `nanio-secret`); an object is the file of its key.
  public static func nanio(buckets: [String] = ["bucket"]) async throws -> PythonPeer {
    let room = try TemporaryDirectory()
    for bucket in buckets { try room.directory("data/" + bucket) }
    return try await PythonPeer(
      "nanio", in: room,
      environment: ["NANIO_ACCESS_KEY": S3Peer.accessKey, "NANIO_SECRET_KEY": S3Peer.secretKey]
    ) { port, directory in
      [
        "-m", "nanio", "serve", "--host", "127.0.0.1", "--port", String(port), "--data-dir", directory + "/data",
        "--no-access-log",
      ]
    }
  }

  /// moto: S3 with checksums, conditions and paged part lists. Signatures are not verified.
  public static func moto() async throws -> PythonPeer {
    try await PythonPeer("moto") { port, _ in ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)] }
  }

  /// wsgidav: WebDAV with locks and without authentication; a resource is a file below `www`.
  public static func webDAV() async throws -> PythonPeer {
    let room = try TemporaryDirectory()
    try room.directory("www")
    return try await PythonPeer("wsgidav", in: room) { port, directory in
      [
        "-c", "from wsgidav.server.server_cli import run; run()", "--host", "127.0.0.1", "--port", String(port),
        "--root", directory + "/www",
        "--auth", "anonymous", "--server", "cheroot", "--no-config", "-q",
      ]
    }
  }
}

/// The password method of an SSH server.
public enum SSHPasswordMethod: String, Sendable, CaseIterable {
  /// RFC 4252 §8.
  case password
  /// RFC 4256: the server prompts for the password.
  case keyboard
}

extension PythonPeer {
  /// asyncssh: SFTP for `user`, who logs in with a password; it serves the directory `files`. Its host key is the file
  /// `host.pub`.
  public static func sftp(password: String, by way: SSHPasswordMethod) async throws -> PythonPeer {
    let room = try TemporaryDirectory()
    try room.directory("files")
    return try await PythonPeer("asyncssh", in: room) { port, directory in
      [
        "-c",
        """
        import asyncio, asyncssh, sys
        port, room, password, way = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
        class Server(asyncssh.SSHServer):
          def begin_auth(self, username): return True
          def password_auth_supported(self): return way == "password"
          def validate_password(self, username, given): return username == "user" and given == password
          def kbdint_auth_supported(self): return way == "keyboard"
          def get_kbdint_challenge(self, username, lang, submethods): return "", "", "", [("Password:", False)]
          def validate_kbdint_response(self, username, answers): return username == "user" and list(answers) == [password]
        async def main():
          key = asyncssh.generate_private_key("ssh-ed25519")
          key.write_public_key(room + "/host.pub")
          await asyncssh.listen("127.0.0.1", port, server_host_keys=[key], server_factory=Server,
            public_key_auth=False, password_auth=way == "password", kbdint_auth=way == "keyboard",
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=room + "/files"))
          await asyncio.Event().wait()
        asyncio.run(main())
        """, String(port), directory, password, way.rawValue,
      ]
    }
  }
}

/// The credentials for the S3 peers.
public enum S3Peer {
  public static let accessKey = "nanio-user"
  public static let secretKey = "nanio-secret"
}

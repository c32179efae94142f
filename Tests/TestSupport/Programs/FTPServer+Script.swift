extension FTPServer {
  /// A pyftpdlib server with the faults of `Options`, which logs commands and transfers to standard output.
  static let script = #"""
    import json, logging, sys
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import DTPHandler, FTPHandler
    from pyftpdlib.servers import FTPServer

    options = json.loads(sys.argv[1])
    logging.basicConfig(level=logging.WARNING)
    left = {"faults": options["faultTimes"], "busy": options["busyTimes"]}


    def say(*words):
        sys.stdout.write(" ".join(str(word) for word in words) + "\n")
        sys.stdout.flush()


    secure = options["security"] != "plain"
    if secure:
        from pyftpdlib.handlers import TLS_DTPHandler, TLS_FTPHandler
        Base, Data = TLS_FTPHandler, TLS_DTPHandler
    else:
        Base, Data = FTPHandler, DTPHandler


    class Channel(Data):
        went = 0
        came = 0

        def fail(self, kind):
            left["faults"] -= 1
            if kind == "cut":
                say("FAULT cut")
                self.cmd_channel.close()
            elif kind == "pretend":
                self._resp = ("226 Transfer complete.", logging.getLogger().debug)
            else:
                self._resp = ("426 Connection closed; transfer aborted.", logging.getLogger().debug)
            self.close()

        def readable(self):
            # libcurl starts TLS before its first command; pyftpdlib would treat that as the end.
            return getattr(self, "_ssl_accepting", False) or super().readable()

        def send(self, data):
            if options.get("fault") and left["faults"] > 0 and self.file_obj is not None:
                rest = options["faultAfter"] - self.went
                if rest <= 0:
                    self.fail(options["fault"])
                    return 0
                data = data[:rest]
            count = super().send(data)
            self.went += count
            return count

        def recv(self, size):
            data = super().recv(size)
            self.came += len(data)
            limit = options.get("uploadFaultAfter")
            if limit is not None and left["faults"] > 0 and self.came >= limit:
                if self.file_obj is not None:
                    self.file_obj.write(data)
                    self.file_obj.flush()
                self.fail("cut")
                return b""
            return data

        def close(self):
            if not self._closed:
                say("SENT", self.went)
                say("CAME", self.came)
            super().close()


    if options.get("bytesPerSecond"):
        from pyftpdlib.handlers import ThrottledDTPHandler

        class Channel(Channel, ThrottledDTPHandler):
            write_limit = options["bytesPerSecond"]


    class Handler(Base):
        use_sendfile = False
        dtp_handler = Channel
        auth_failed_timeout = 0

        def handle(self):
            if left["busy"] > 0:
                left["busy"] -= 1
                self.respond("421 Too many connections, try again later.")
                self.close_when_done()
                return
            if options["security"] == "implicit":
                self.secure_connection(self.ssl_context)
            else:
                super().handle()

        def handle_ssl_established(self):
            if options["security"] == "implicit":
                FTPHandler.handle(self)

        def pre_process_command(self, line, cmd, arg):
            say("CMD", "PASS" if cmd == "PASS" else line)
            if cmd == "REST":
                self.begins_later = arg != "0"
            if cmd in options["unknownCommands"]:
                self.respond("502 Command not implemented.")
                return
            super().pre_process_command(line, cmd, arg)

        begins_later = False

        def respond(self, resp, *args, **kwargs):
            if self.begins_later and options.get("replyAfterRest") and resp[:4] in ("125 ", "150 "):
                resp = options["replyAfterRest"]
            super().respond(resp, *args, **kwargs)

        def handle_auth_failed(self, msg, password):
            super().handle_auth_failed(options.get("loginReply") or msg, password)


    authorizer = DummyAuthorizer()
    authorizer.add_user(options["user"], options["password"], options["root"], perm="elradfmwMT")
    Handler.authorizer = authorizer
    if secure:
        Handler.certfile = options["certificate"]
        Handler.keyfile = options["key"]
        Handler.tls_control_required = options["security"] == "explicit"
        Handler.tls_data_required = options["security"] == "explicit"
    if options.get("passiveAddress"):
        Handler.masquerade_address = options["passiveAddress"]
    server = FTPServer(("127.0.0.1", 0), Handler)
    server.max_cons = 512
    say("READY", server.socket.getsockname()[1])
    server.serve_forever()
    """#
}

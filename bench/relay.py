"""relay.py PORT TARGET-PORT FILE: forwards connections to a server on 127.0.0.1 and writes to FILE how many bytes it sent."""
import os, socket, sys, threading

port, target, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
lock, total = threading.Lock(), 0
count = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)


def note(number):
    global total
    with lock:
        total += number
        os.pwrite(count, b"%20d\n" % total, 0)


def copy(source, sink, counts):
    try:
        while data := source.recv(1 << 18):
            sink.sendall(data)
            if counts:
                note(len(data))
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.create_server(("127.0.0.1", port))
while True:
    client, _ = listener.accept()
    try:
        server = socket.create_connection(("127.0.0.1", target))
    except OSError:
        client.close()
        continue
    threading.Thread(target=copy, args=(client, server, True), daemon=True).start()
    threading.Thread(target=copy, args=(server, client, False), daemon=True).start()

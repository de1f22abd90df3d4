"""The other end of the loopback gauge: a program that sends back each byte that comes, until the connection ends.

It is run by its path, without dbdyno around it, so that it is there at once.
"""

import socket

PATIENCE_S = 10.0
"""If dbdyno is killed before it connects, nobody will."""


def main() -> None:
    """Say on stdout which port one connection is waited for on, and serve that one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        print(listener.getsockname()[1], flush=True)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while received := connection.recv(64):
            connection.sendall(received)


if __name__ == "__main__":
    main()

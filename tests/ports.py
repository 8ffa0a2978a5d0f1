"""Ports for programs under test."""
import socket


def port_reserve():
    """A socket and its port, which nobody else is given until the socket is closed: it is bound. A program that sets SO_REUSEADDR, as servers do, can
    listen there all the same, because the socket does not."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", 0))
    return s, s.getsockname()[1]

"""Listens on the ports that are named, or on every one that Binnacle's programs listen on by default, until its parent ends. Prints a line when it does."""
import os
import socket
import sys
import time

parent = os.getppid()
# A machine may have been started without IPv6.
family = socket.AF_INET6 if os.path.exists("/proc/net/if_inet6") else socket.AF_INET
held = []
for port in [int(word) for word in sys.argv[1:]] or (9103, 9110, 9001, 6443, 9102, 8081, 623):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(family, kind)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        s.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", port))
        if kind == socket.SOCK_STREAM:
            s.listen()
        held.append(s)
print("held", flush=True)
os.close(1)
while os.getppid() == parent:
    time.sleep(0.2)

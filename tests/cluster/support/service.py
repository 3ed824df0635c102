"""The address of a Service on loopback: each connection goes to an endpoint at random that takes it, as kube-proxy has it in every mode but IPVS."""

import random
import socket
import threading


class Service:
    def __init__(self, *ports, at=("127.0.0.1", 0)):
        self.ports = ports
        self.carried = set()  # sockets of the connections that it carries
        self.listener = socket.create_server(at)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def stop(self):
        self.listener.close()

    def cut(self):
        """Ends all connections; new ones are taken."""
        for end in list(self.carried):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[caller], daemon=True).start()

    def serve(self, caller):
        with caller:
            for port in random.sample(self.ports, len(self.ports)):
                try:
                    endpoint = socket.create_connection(("127.0.0.1", port), timeout=5)
                except OSError:
                    continue
                endpoint.settimeout(None)
                with endpoint:
                    self.carried |= {caller, endpoint}
                    back = threading.Thread(target=self.carry, args=[endpoint, caller], daemon=True)
                    back.start()
                    self.carry(caller, endpoint)
                    back.join()
                    self.carried -= {caller, endpoint}
                return

    @staticmethod
    def carry(source, sink):
        """Until one side has ended; then both have."""
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

"""An ops port in front of a trial's own."""

import contextlib
import http.server
import json
import threading
import urllib.parse


class Ops(http.server.ThreadingHTTPServer):
    """The trial's ops port with what a trial cannot have: the labels of Node objects (there is no API server to read them from), and nodes with names
    that no aggregator lets in."""

    def __init__(self, trial, labels=None, names=None):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # noqa: N802
                self.server.asked.append(self.path)
                known = (labels or {}).get(self.path)
                path = self.path
                for real, shown in (names or {}).items():
                    path = path.replace(urllib.parse.quote(shown, safe=""), real)
                status, text = (200, json.dumps(known)) if known else trial.ask("ops", path)
                for real, shown in (names or {}).items():
                    text = text.replace(json.dumps(real), json.dumps(shown))
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # who asked has gone
                    self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.asked = []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()

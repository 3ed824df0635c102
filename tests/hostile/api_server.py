"""An API server as far as the aggregator needs one: it keeps objects in memory, lists and watches them, merges patches, and says whose a token is. For attacks that
need to say what an API server would, without a control plane; tests/cluster tries the same on a real one. Plain HTTP on loopback.
"""

import collections
import copy
import http.server
import json
import threading
import urllib.parse


def merged(old, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    out = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = merged(out.get(key), value)
    return out


class ApiServer:
    def __init__(self):
        self.guard = threading.Condition()
        self.version = 1
        self.objects = {}  # by path: /api/v1/nodes/good
        self.history = []  # (version, path, what happened, object)
        self.holders = {}  # whose a token is: the status' user
        self.may_read = set()  # names of users
        self.asked = collections.Counter()  # questions: "tokenreviews", "subjectaccessreviews"
        self.patched = []  # paths, in order
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                outer.answer(self)

            do_GET = do_POST = do_PUT = do_PATCH = answer

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self, file):
        file.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
            "users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        return file

    # What it has

    def put(self, path, thing):
        """`path`: of the object. Gives it what an API server gives."""
        with self.guard:
            known = path in self.objects
            self.version += 1
            meta = thing.setdefault("metadata", {})
            meta.setdefault("name", path.rpartition("/")[2])
            meta.setdefault("uid", f"uid-{self.version}")
            meta.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
            meta["resourceVersion"] = str(self.version)
            self.objects[path] = copy.deepcopy(thing)
            self.history.append((self.version, path, "MODIFIED" if known else "ADDED", copy.deepcopy(thing)))
            self.guard.notify_all()
            return self.objects[path]

    def get(self, path):
        with self.guard:
            return copy.deepcopy(self.objects[path])

    @staticmethod
    def is_of(path, collection):
        """Whether the object belongs to it: a collection of all namespaces has no namespaces in its path."""
        head, _, kind = collection.rpartition("/")
        return path.startswith(head + "/") and path.rpartition("/")[0].rpartition("/")[2] == kind

    # What it is asked

    def answer(self, request):
        target = urllib.parse.urlsplit(request.path)
        query = dict(urllib.parse.parse_qsl(target.query))
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        said = json.loads(body) if body else {}
        if query.get("watch"):
            return self.watch(request, target.path, int(query.get("resourceVersion", 0)))
        status, out = self.result(request.command, target.path, said)
        # As API servers do: a list from the watch cache (a version is given) comes whole, others in pages.
        if "items" in out and "limit" in query and "resourceVersion" not in query:
            start, most = int(query.get("continue", 0)), int(query["limit"])
            more = {"continue": str(start + most)} if start + most < len(out["items"]) else {}
            out = {"metadata": out["metadata"] | more, "items": out["items"][start : start + most]}
        text = json.dumps(out).encode()
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        try:
            request.wfile.write(text)
        except OSError:
            request.close_connection = True  # who asked has gone

    def result(self, method, path, said):
        kind = path.rpartition("/")[2]
        if kind == "tokenreviews":
            who = self.holders.get(said["spec"]["token"])
            with self.guard:
                self.asked[kind] += 1
            return 201, {"status": {"authenticated": who is not None, "user": who or {}, "audiences": said["spec"].get("audiences", [])}}
        if kind == "subjectaccessreviews":
            with self.guard:
                self.asked[kind] += 1
            return 201, {"status": {"allowed": said["spec"].get("user") in self.may_read}}
        with self.guard:
            if method == "PATCH":
                self.patched.append(path)
            path = path.removesuffix("/status")
            if method == "POST":
                path = f"{path}/{said['metadata'].get('name', 'generated')}"
                return 201, self.put(path, said)
            if path in self.objects:
                if method == "GET":
                    return 200, self.objects[path]
                wanted = said.get("metadata", {}).get("resourceVersion")
                if wanted and wanted != self.objects[path]["metadata"]["resourceVersion"]:
                    return 409, {"kind": "Status", "status": "Failure", "reason": "Conflict", "code": 409, "message": "it has changed"}
                return 200, self.put(path, merged(self.objects[path], said))
            items = [thing for at, thing in sorted(self.objects.items()) if self.is_of(at, path)]
            # A name that nobody has, below a namespace or a group: leases/NAME.
            if not items and path.rpartition("/")[0].endswith(("/leases", "/clusterroles")):
                return 404, {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "message": "there is none"}
            return 200, {"metadata": {"resourceVersion": str(self.version)}, "items": items}

    def watch(self, request, collection, since):
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        try:
            while True:
                with self.guard:
                    news = [(version, what, thing) for version, path, what, thing in self.history if version > since and self.is_of(path, collection)]
                    since = max([since, *(version for version, _, _ in news)])
                    if not news:
                        self.guard.wait(1)
                lines = "".join(json.dumps({"type": what, "object": thing}) + "\n" for _, what, thing in news)
                if not lines:
                    lines = json.dumps({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(since)}}}) + "\n"
                request.wfile.write(lines.encode())
        except OSError:
            pass  # the watcher has gone

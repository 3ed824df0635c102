"""What processes cost, read from /proc: CPU seconds, memory, system calls, bytes. Only the Python standard library."""

import http.client
import os
import pathlib
import re
import socket
import subprocess
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")


def children_of(pid):
    """`pid` and all its descendants that live now."""
    all_of_them = [pid]
    for one in all_of_them:
        for task in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
            try:
                all_of_them += [int(word) for word in task.read_text().split()]
            except OSError:
                pass
    return all_of_them


def cpu_seconds(pid):
    """(user, system, exact total) of a process, its living descendants, and the dead ones it has waited for.

    User and system are the kernel's split, sampled at its ticks. The exact total is the scheduler's count (schedstat, nanoseconds), for dead children
    again the sampled one; dead threads are left out.
    """
    user = system = exact = 0.0
    for one in children_of(pid):
        try:
            words = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
            user += (int(words[11]) + (int(words[13]) if one == pid else 0)) / TICK
            system += (int(words[12]) + (int(words[14]) if one == pid else 0)) / TICK
            exact += sum((int(words[i]) for i in (13, 14)), 0) / TICK if one == pid else 0
            exact += sum(int(t.read_text().split()[0]) for t in pathlib.Path(f"/proc/{one}/task").glob("*/schedstat")) / 1e9
        except OSError:
            pass  # it ended meanwhile
    return user, system, exact


def resident_mib(pid):
    """(resident memory, what of it is the process's own and not mapped from files) of a process and its descendants, in MiB."""
    kib = [0, 0]
    for one in children_of(pid):
        try:
            status = pathlib.Path(f"/proc/{one}/status").read_text()
        except OSError:
            continue
        for i, field in enumerate(("VmRSS", "RssAnon")):
            found = re.search(rf"{field}:\s+(\d+) kB", status)
            kib[i] += int(found.group(1)) if found else 0
    return kib[0] / 1024, kib[1] / 1024


def descriptors(pid):
    """How many file descriptors a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def system_calls(pid, seconds):
    """System calls a second of a process, its threads and what they start, counted by strace; nothing when it may not trace."""
    traced = subprocess.Popen(["strace", "-f", "-c", "-p", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    traced.send_signal(2)
    _, said = traced.communicate(timeout=10)
    for line in said.splitlines():
        words = line.split()
        if words and words[-1] == "total":
            return int(words[3] if len(words) > 4 else words[2]) / seconds
    return None


def bytes_sent_to(port):
    """What this machine's connections to that port have sent, in bytes, counted by the kernel."""
    said = subprocess.run(["ss", "-tinH", f"dport = :{port}"], capture_output=True, text=True, check=True).stdout
    return sum(int(n) for n in re.findall(r"bytes_sent:(\d+)", said))


class Scraper:
    """Asks an exporter for /metrics every `period` over one connection, as Prometheus does, and counts what comes."""

    def __init__(self, port, path="/metrics", period=1.0):
        self.port, self.path, self.period = port, path, period
        self.bytes = self.answers = self.failures = 0
        self.text = ""
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        due = time.monotonic()
        while not self.ended.wait(max(0.0, due - time.monotonic())):
            due += self.period
            try:
                connection.request("GET", self.path)
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    raise OSError(f"status {answer.status}")
                self.text = body.decode(errors="replace")
                self.bytes += len(body) + len(str(answer.headers))
                self.answers += 1
            except (OSError, http.client.HTTPException):
                connection.close()
                self.failures += 1

    def stop(self):
        self.ended.set()
        self.thread.join(15)


class UdpRelay:
    """Passes datagrams between whoever asks `address` and `target`, and back: for programs that know a BMC only at port 623."""

    def __init__(self, address, target):
        self.target = target
        self.door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.door.bind(address)
        self.callers = {}
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            datagram, caller = self.door.recvfrom(65536)
            if caller not in self.callers:
                self.callers[caller] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self.callers[caller].connect(self.target)
                threading.Thread(target=self.back, args=(self.callers[caller], caller), daemon=True).start()
            try:
                self.callers[caller].send(datagram)
            except OSError:
                pass  # the simulator has gone

    def back(self, link, caller):
        while True:
            try:
                self.door.sendto(link.recv(65536), caller)
            except OSError:
                pass

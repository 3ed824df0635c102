"""A site behind a WAN: a network namespace, behind another one that routes, or loses, its packets. Needs root.

The packets are lost on the way, not where they are sent: a kernel that drops its own segments knows it, and sends them again at once.
"""

import os
import pathlib
import shutil
import subprocess


def missing():
    """Why no site can be made here, None if one can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "nft", "curl"):
        if shutil.which(program) is None:
            return f"{program} is missing: scripts/bootstrap installs it"
    probe = subprocess.run(["unshare", "--net", "nft", "list", "ruleset"], capture_output=True, check=False)
    return None if probe.returncode == 0 else "this kernel has no network namespaces with nftables"


class Site:
    """`run` is what to put in front of a command that is to run there; `here` is this side's address, as the site sees it."""

    def __init__(self):
        # Names of interfaces have 15 characters at most; several test runs may share a machine.
        number = os.getpid() % 65536
        net = f"10.{200 + number % 50}.{number // 50 % 250}"
        self.name, self.router = f"bnwan{number}", f"bnwan{number}r"
        self.here, far_side, router_side, there = (f"{net}.{host}" for host in (1, 2, 5, 6))
        self.run = ["ip", "netns", "exec", self.name]
        self._in_router = ["ip", "netns", "exec", self.router]
        for namespace in (self.name, self.router):
            self._do("ip", "netns", "add", namespace)
            self._do("ip", "-n", namespace, "link", "set", "lo", "up")
        self._do("ip", "link", "add", self.name, "type", "veth", "peer", "name", "near", "netns", self.router)
        self._do("ip", "-n", self.router, "link", "add", "far", "type", "veth", "peer", "name", "wan", "netns", self.name)
        for where, device, address in (([], self.name, self.here), (["-n", self.router], "near", far_side),
                                       (["-n", self.router], "far", router_side), (["-n", self.name], "wan", there)):
            self._do("ip", *where, "address", "add", f"{address}/30", "dev", device)
            self._do("ip", *where, "link", "set", device, "up")
        self._do("ip", "route", "add", f"{there}/32", "via", far_side)
        self._do("ip", "-n", self.name, "route", "add", "default", "via", router_side)
        self._do(*self._in_router, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    def _do(self, *command, text=None):
        done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=60, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")

    def _rules(self, rule):
        chain = f"table inet wan {{\nchain way {{\ntype filter hook forward priority 0;\n{rule}\n}}\n}}\n"
        self._do(*self._in_router, "nft", "-f", "-", text="flush ruleset\n" + (chain if rule else ""))

    def lose(self, percent):
        """Each packet is lost with that probability, in either direction."""
        self._rules(f"numgen random mod 1000 < {round(percent * 10)} drop")

    def cut(self):
        """Nothing gets through, and nobody is told."""
        self._rules("drop")

    def heal(self):
        self._rules(None)

    def know(self, hosts):
        """Names and their addresses, for programs that are started at the site from now on: ip netns exec lays this over /etc/hosts."""
        folder = pathlib.Path("/etc/netns") / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in hosts.items()))

    def stop(self):
        shutil.rmtree(f"/etc/netns/{self.name}", ignore_errors=True)
        for namespace in (self.name, self.router):
            subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, timeout=60, check=False)
        subprocess.run(["ip", "link", "delete", self.name], capture_output=True, timeout=60, check=False)

"""TLS that is costly for the server and cheap for the caller: key updates, certificates, hellos, parts of records, handshakes without end.

Run by meson (suite hostile), or by hand: python3 tests/hostile/tls_test.py --build build [TestName]
"""

import contextlib
import json
import os
import socket
import ssl
import statistics
import subprocess

from attacked import PATIENCE, WELCOME, Hostile, Watch
from trial import pod, run_tests


class KeyUpdates(Hostile):
    """Records that carry no data keep SSL_read busy: three connections once froze all faces for half a minute."""

    def test_a_flood_of_key_updates_is_cut_off_and_counted_and_nobody_else_notices(self):
        self.begin()
        for face, server in (("ops", "ops"), ("metrics", "custom metrics")):
            health, scheduler = self.watch_health(), self.watch_filter()
            flood = self.flood(self.trial.ports[face])
            # More than three: who was cut off came again, and was cut off again.
            self.wait_for("floods to be cut off", lambda: self.counted("binnacle_http_dropped_total", server=server, reason="flood") >= 6)
            self.asked_again(health, scheduler)
            self.assert_served(livez=health, filter=scheduler)
            self.trial.end(flood)
        self.assert_the_agent_stayed()

    def test_agents_are_not_kept_out_by_a_flood_at_their_own_door(self):
        self.begin()
        self.flood(self.trial.ports["ingest"])
        self.wait_for("the flood to be counted", lambda: self.refused("handshake", "flood") >= 6)
        self.trial.start_agent("late")
        self.wait_for("the second agent", lambda: self.counted("binnacle_nodes", state="connected") == 2)


class CostlyCertificates(Hostile):
    """OpenSSL decodes a client's certificates before it looks who signed them: one handshake could once take the faces loop for half a minute."""

    def show_costly_certificates(self, face):
        """A handshake with a certificate of the attacker's own, and others behind it whose keys are on a curve that is written out."""
        openssl = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True)  # noqa: E731  (one word for four calls)
        folder = self.trial.folder
        for name, form in (("own", "named_curve"), ("costly", "explicit")):
            openssl("ecparam", "-name", "prime256v1", "-param_enc", form, "-genkey", "-noout", "-out", folder / f"{name}.key")
            openssl("req", "-x509", "-new", "-key", folder / f"{name}.key", "-subj", f"/CN={name}", "-days", "1", "-out", folder / f"{name}.crt")
        (folder / "chain.crt").write_text((folder / "own.crt").read_text() + 5 * (folder / "costly.crt").read_text())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(folder / "chain.crt", folder / "own.key")
        with socket.create_connection(("127.0.0.1", self.trial.ports[face]), timeout=PATIENCE) as plain, context.wrap_socket(plain) as connection:
            return connection.recv(1)

    def test_a_handshake_with_them_ends_is_counted_and_said(self):
        self.begin()
        for face, flood in (("ops", lambda: self.counted("binnacle_http_dropped_total", server="ops", reason="flood")),
                            ("metrics", lambda: self.counted("binnacle_http_dropped_total", server="custom metrics", reason="flood")),
                            ("extender", lambda: self.counted("binnacle_http_dropped_total", server="extender", reason="flood")),
                            ("ingest", lambda: self.refused("flood"))):
            with self.subTest(face=face):
                with self.assertRaises(OSError):
                    self.show_costly_certificates(face)
                self.wait_for("it to be counted", lambda: flood() > 0)
                self.assertEqual(flood(), 1)
        self.assertIn("ops: no TLS connection with 127.0.0.1", self.trial.log("aggregator"))
        self.assertIn("the peer showed a certificate with a key on another curve", self.trial.log("aggregator"))
        self.assert_the_agent_stayed()


class LongHellos(Hostile):
    """Each could once take the loop of a port 0.1 s, so ten in a second took all of it."""

    def test_they_end_unread_are_counted_and_delay_nobody(self):
        self.begin()
        health, scheduler = self.watch_health(), self.watch_filter()
        faces = {"ops": lambda: self.counted("binnacle_http_dropped_total", server="ops", reason="flood"),
                 "metrics": lambda: self.counted("binnacle_http_dropped_total", server="custom metrics", reason="flood"),
                 "extender": lambda: self.counted("binnacle_http_dropped_total", server="extender", reason="flood"),
                 "ingest": lambda: self.refused("no_client_hello")}
        crowds = [self.crowd(self.trial.ports[face], many=50, rate=25, say="long-hello", first=first) for first, face in enumerate(faces, start=1)]
        for face, ended in faces.items():
            self.wait_for(f"long hellos at {face} to be refused", lambda: ended() >= 50)
        self.asked_again(health, scheduler)
        self.assert_served(livez=health, filter=scheduler)
        self.assertIn("the peer's ClientHello has 65", self.trial.log("aggregator"))
        self.assert_the_agent_stayed()
        for crowd in crowds:
            self.end_crowd(crowd)


class HalfRecords(Hostile):
    """A part of a TLS record is something to read that never comes: one such connection once waited for ever, with its buffers."""

    def begin_a_record(self, port):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
        plain = socket.socket(fileno=os.dup(connection.fileno()))
        self.addCleanup(plain.close)
        self.addCleanup(connection.close)
        plain.settimeout(PATIENCE)
        plain.sendall(b"\x17\x03\x03")
        return plain

    def test_the_connection_ends_and_is_counted(self):
        self.begin()
        faces = (("ops", "ops"), ("metrics", "custom metrics"))
        begun = [self.begin_a_record(self.trial.ports[face]) for face, _ in faces]
        for plain in begun:
            with contextlib.suppress(ConnectionResetError):
                while plain.recv(4096):
                    pass
        for _, server in faces:
            self.wait_for("it to be counted", lambda: self.counted("binnacle_http_dropped_total", server=server, reason="silent") >= 1)


class HandshakeFlood(Hostile):
    """The extender's port lets only the scheduler in, but whoever reaches it may begin handshakes, and each costs the faces loop half a millisecond."""

    def test_at_the_extender_it_delays_neither_the_scheduler_nor_a_new_connection_nor_health(self):
        self.begin()
        calm = self.watch_filter_anew()
        self.asked_again(calm)
        self.assert_served(filter_anew=calm)
        health, scheduler, anew = self.watch_health(), self.watch_filter(), self.watch_filter_anew()
        # One says hello and no more, the other finishes its handshake without a certificate. A third of the first comes from the /24 of those who behave.
        hellos = self.crowd(self.trial.ports["extender"], many=3000, rate=2000, say="hello", networks=3, first=0)
        strangers = self.crowd(self.trial.ports["extender"], many=1000, rate=500, say="session", first=3)
        self.wait_for("the hellos to have tried", lambda: self.made(hellos) > 5000)
        self.wait_for("the strangers to be refused", lambda: self.failed_handshakes("extender") > 200)
        self.asked_again(health, scheduler, anew, times=30)
        self.assert_served(livez=health, filter=scheduler, filter_anew=anew)
        self.assertEqual(anew.failed, [])
        self.assertLess(statistics.median(anew.took) / 1000, WELCOME + 4 * statistics.median(calm.took) / 1000)
        self.assertEqual(self.counted("binnacle_http_dropped_total", reason="full"), 0)
        self.assert_the_agent_stayed()
        for crowd in (hellos, strangers):
            self.end_crowd(crowd)

    def failed_handshakes(self, server):
        listeners = json.loads(self.trial.ask("ops", "/api/v1/status")[1])["listeners"]
        return next(one["handshakeFailures"] for one in listeners if one["name"] == server)

    def watch_filter_anew(self):
        """As a scheduler that was just started: on a connection of its own each time."""

        def ask():
            with self.trial.scheduler() as scheduler:
                if scheduler.call("filter", pod("web"), ["good"])[0]["NodeNames"] != ["good"]:
                    raise RuntimeError("the node does not pass")

        watch = Watch(ask)
        self.addCleanup(watch.stop)
        return watch


if __name__ == "__main__":
    run_tests(__doc__, "attacked")

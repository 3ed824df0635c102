"""Whether the agent's memory stays flat: all its sources on, the IPMI helper's BMC too, sampling 50 times a second, streaming to a real aggregator.

    python3 tests/bench/cost/soak.py                  a minute, as the gate `soak` of scripts/check
    python3 tests/bench/cost/soak.py --seconds 3600   an hour

What it reads changes all the time: watts, a BMC's temperature, a file whose series come and go, an exporter that does likewise, and a peer that
drops out. Prints the course of the memory (agent and helper together) and its slope; fails when the last third of the run holds more than the allowance above the third before it. (The first third fills
windows and buffers.) Likewise when it has more descriptors open.
"""

import argparse
import http.server
import pathlib
import statistics
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "scripts"))
from trial import EVERY_SOURCE, ROOT, Trial, free_port  # noqa: E402  (the path comes first)
from processes import cpu_seconds, descriptors, resident_mib  # noqa: E402

NODE = "soaked"


def changing_series(turn):
    """An exposition in which some series are new each time."""
    lines = ["# TYPE soak_jobs_total counter", f"soak_jobs_total {turn}"]
    lines += [f'soak_queue{{name="q{(turn + i) % 40}"}} {turn * i}' for i in range(20)]
    return "\n".join(lines) + "\n"


class Exporter(http.server.BaseHTTPRequestHandler):
    turn = 0

    def do_GET(self):
        Exporter.turn += 1
        body = changing_series(Exporter.turn).replace("soak_", "soak_exporter_").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except BrokenPipeError:
            pass  # the agent's time for an answer was over

    def log_message(self, *_):
        pass


def slope_kib_an_hour(samples):
    """Of a straight line through (seconds, MiB) by least squares."""
    times, sizes = zip(*samples)
    return statistics.linear_regression(times, sizes).slope * 1024 * 3600


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    words.add_argument("--seconds", default=60, type=int)
    words.add_argument("--allowance", default=256, type=float, help="KiB between the last two thirds of the run (256)")
    given = words.parse_args()

    exporter = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
    threading.Thread(target=exporter.serve_forever, daemon=True).start()
    trial = Trial(given.build)
    samples, own, open_files = [], [], []
    try:
        trial.make_certificates([NODE])
        trial.start_aggregator()
        trial.start_package(NODE, 80, "--sensors")
        bmc = trial.start_bmc(NODE)
        files = trial.folder / "files"
        files.mkdir()
        trial.start_agent(NODE, "--sources", EVERY_SOURCE, "--sys-root", trial.sysroot(NODE), "--period", "20ms", "--textfile-directory", files,
                          "--scrape", f"http://127.0.0.1:{exporter.server_port}/metrics", "--scrape-period", "100ms",
                          "--path", f"127.0.0.1:{trial.ports['health']},gone=127.0.0.1:{free_port()}", *bmc)
        pid = trial.processes[NODE].pid
        began = time.monotonic()
        turn = 0
        while (now := time.monotonic() - began) < given.seconds:
            turn += 1
            trial.check_alive()
            (files / "new.tmp").write_text(changing_series(turn))
            (files / "new.tmp").rename(files / f"changing{turn % 3}.prom")
            (files / f"changing{(turn + 1) % 3}.prom").unlink(missing_ok=True)
            trial.heat(NODE, 80 + turn % 60)
            trial.warm(NODE, "inlet_temp", 20 + turn % 20)
            resident, its_own = resident_mib(pid)
            samples.append((now, resident))
            own.append(its_own)
            open_files.append(descriptors(pid))
            time.sleep(0.5)
        exact = cpu_seconds(pid)[2]
    finally:
        trial.stop()
        exporter.shutdown()

    third = len(samples) // 3
    before, after = (statistics.median(size for _, size in part) for part in (samples[third:2 * third], samples[2 * third:]))
    grown = (after - before) * 1024
    opened = [statistics.median(open_files[third:2 * third]), statistics.median(open_files[2 * third:])]
    for (when, size), its_own, count in list(zip(samples, own, open_files))[::max(1, len(samples) // 12)]:
        print(f"{when:6.0f} s  {size:6.2f} MiB, {its_own:5.2f} not mapped from files  {count:3} descriptors")
    print(f"slope over the last two thirds: {slope_kib_an_hour(samples[third:]):+.0f} KiB an hour; from the second third to the last: {grown:+.0f} KiB "
          f"(allowed: {given.allowance:.0f}); CPU {exact / given.seconds * 100:.1f} % of a core at 50 Hz; descriptors {opened[0]:.0f}, then {opened[1]:.0f}")
    if len(samples) < 12 or Exporter.turn < given.seconds:
        print(f"soak: nothing was proved: {len(samples)} looks, {Exporter.turn} scrapes", file=sys.stderr)
        return 1
    return 0 if grown <= given.allowance and opened[1] <= opened[0] else 1


if __name__ == "__main__":
    sys.exit(main())

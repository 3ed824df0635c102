"""In-band IPMI against the kernel's own driver: a machine of QEMU (no KVM needed) with a KCS interface, behind which OpenIPMI's ipmi_sim is the BMC.

    python3 tests/qemu/parts.py              fetches QEMU, kernels and busybox, once
    python3 tests/qemu/in_band_test.py       boots the guest: binnacle-ipmi --list, binnacle-agent --probe, then the agent while a sensor warms

Opt-in: no other test or script runs it. The guest is Debian's kernel with ipmi_si and ipmi_devintf, busybox, our programs and their libraries.
"""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
from guest import Archive  # noqa: E402  (the path comes first)
from parts import QEMU, SUITES, Parts  # noqa: E402
from trial import ROOT, Failure, Trial  # noqa: E402

# The system interface of a BMC in a PC: IPMI 2.0, 9.1. The firmware's tables (SMBIOS type 38) tell the driver of it.
MACHINE = ["-M", "pc,accel=tcg", "-cpu", "qemu64", "-m", "512", "-nographic", "-no-reboot", "-nic", "none",
           "-device", "ipmi-bmc-extern,id=bmc0,chardev=bmc", "-device", "isa-ipmi-kcs,bmc=bmc0,ioport=0xca2"]

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /tmp /run /usr/bin
/bin/busybox --install -s /usr/bin
export PATH=/usr/bin:/programs
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
ip link set lo up
for module in $(cat /modules/order); do insmod /modules/$module || echo "guest: $module cannot be loaded"; done
for second in 1 2 3 4 5 6 7 8 9 10; do [ -c /dev/ipmi0 ] && break; sleep 1; done
echo "guest: begin list"; binnacle-ipmi --list --cache-folder /tmp/cache; echo "guest: end list"
echo "guest: begin probe"; binnacle-agent --node-name guest --sources bmc --probe; echo "guest: end probe"
binnacle-agent --node-name guest --sources bmc --listen 127.0.0.1:9103 --log-level warning &
last=""
while true; do
  now=$(wget -q -O - http://127.0.0.1:9103/metrics | grep '^host_inlet_temperature_celsius')
  [ "$now" = "$last" ] || echo "guest: $now"
  last=$now
  sleep 1
done
"""


def make_guest(parts, build, to):
    """The guest's initramfs."""
    archive = Archive()
    archive.console()
    archive.file("init", INIT.encode())
    archive.file("bin/busybox", parts.busybox.read_bytes())
    archive.modules(parts.modules, ["ipmi_si", "ipmi_devintf"])
    archive.program(build / "agent/binnacle-agent", "programs/binnacle-agent")
    archive.program(build / "agent/ipmi/binnacle-ipmi", "programs/binnacle-ipmi")
    to.write_bytes(archive.whole())


def between(text, begin, end):
    return text.split(begin, 1)[1].split(end, 1)[0]


def expect(what, text, *words):
    missing = [word for word in words if word not in text]
    if missing:
        raise Failure(f"{what} lacks {missing}:\n{text}")
    print(f"ok  {what}: {', '.join(words)}", flush=True)


def run(trial, parts, seconds):
    began = time.monotonic()
    trial.start_bmc("guest")
    # Where the simulator speaks the protocol that QEMU's ipmi-bmc-extern speaks, too.
    port = (trial.folder / "guest/bmc/shim").read_text().split()[1]
    initramfs = trial.folder / "initramfs"
    make_guest(parts, trial.build, initramfs)
    # With `reconnect` it connects once the machine is whole: 7.2 crashes when the BMC answers before it has an interface.
    trial.start("guest", QEMU, *MACHINE, "-chardev", f"socket,id=bmc,host=127.0.0.1,port={port},reconnect=1", "-kernel", parts.kernel,
                "-initrd", initramfs, "-append", "console=ttyS0 quiet panic=-1 no_timer_check")
    wait = lambda what, word: trial.wait_for(what, lambda: word in trial.log("guest"), seconds)  # noqa: E731
    wait("the list", "guest: end list")
    print(f"    booted and listed after {time.monotonic() - began:.0f} s", flush=True)
    expect("binnacle-ipmi --list", between(trial.log("guest"), "guest: begin list", "guest: end list"), "/dev/ipmi0", "Inlet Temp", "23 celsius", "417 watts",
           "14 sensors")
    wait("the probe", "guest: end probe")
    expect("binnacle-agent --probe", between(trial.log("guest"), "guest: begin probe", "guest: end probe"), "/dev/ipmi0", "14 sensors")
    wait("the inlet temperature", 'guest: host_inlet_temperature_celsius{source="bmc"} 23.0')
    trial.warm("guest", "inlet_temp", 44)
    wait("the warmer inlet", 'guest: host_inlet_temperature_celsius{source="bmc"} 44.0')
    print(f"ok  the agent follows the BMC behind the kernel's driver; {time.monotonic() - began:.0f} s in all", flush=True)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    words.add_argument("--seconds", default=600, type=int, help="that each step may take (600)")
    words.add_argument("--suite", default=SUITES[0], help=f"the release of Debian whose kernel it is ({SUITES[0]})")
    given = words.parse_args()
    parts = Parts(given.suite)
    missing = parts.missing()
    if missing:
        print(f"in_band_test: {missing}", file=sys.stderr)
        return 2
    trial = Trial(given.build)
    try:
        run(trial, parts, given.seconds)
        return 0
    except Failure as why:
        print(f"FAILED  {why}", file=sys.stderr)
        return 1
    finally:
        trial.stop()


if __name__ == "__main__":
    sys.exit(main())

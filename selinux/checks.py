"""Asks a compiled policy what Binnacle's domains can do: what they must, and nothing that they must not.

  /usr/bin/python3 selinux/checks.py POLICY FILE_CONTEXTS      (python3-setools is for the distribution's python)
"""

import pathlib
import sys

import setools
import yaml

policy = setools.SELinuxPolicy(sys.argv[1])
contexts = open(sys.argv[2]).read()
failed = []


def members(type_or_attribute):
    """The types that it stands for, by name; remembered, for there are few attributes and many rules."""
    name = str(type_or_attribute)
    if name not in known:
        known[name] = {str(t) for t in type_or_attribute.expand()}
    return known[name]


# One walk over all rules: a query for each question would take minutes. Rules that a boolean can switch on count as allowed.
SUBJECTS = {"binnacle_agent_t", "binnacle_ipmi_t", "init_t", "user_t"}
known = {}
allowed = {}
for rule in policy.terules():
    if rule.ruletype == setools.TERuletype.allow:
        for source in SUBJECTS & members(rule.source):
            allowed.setdefault((source, str(rule.tclass)), []).append((members(rule.target), rule.perms))


def permissions(source, target, tclass):
    return {p for targets, perms in allowed.get((source, tclass), []) if target in targets for p in perms}


def can(source, target, tclass, *wanted):
    missing = set(wanted) - permissions(source, target, tclass)
    if missing:
        failed.append(f"{source} cannot {' '.join(sorted(missing))} {target}:{tclass}")


def cannot(source, target, tclass, *forbidden):
    has = permissions(source, target, tclass)
    bad = has & set(forbidden) if forbidden else has
    if bad:
        failed.append(f"{source} can {' '.join(sorted(bad))} {target}:{tclass}")


def permissions_of(tclass):
    try:
        return set(tclass.perms) | set(tclass.common.perms)
    except setools.exception.NoCommon:
        return set(tclass.perms)


def begins(source, program, becomes):
    query = setools.TERuleQuery(policy, ruletype=["type_transition"], source=source, target=program, tclass=["process"])
    if becomes not in {str(rule.default) for rule in query.results()}:
        failed.append(f"{source} running {program} does not become {becomes}")


AGENT, HELPER = "binnacle_agent_t", "binnacle_ipmi_t"
WRITES = ("write", "append", "create", "unlink", "setattr", "rename")

begins("init_t", "binnacle_agent_exec_t", AGENT)
begins("init_t", "binnacle_ipmi_exec_t", HELPER)
begins(AGENT, "binnacle_ipmi_exec_t", HELPER)
can("init_t", AGENT, "process2", "nnp_transition")  # the unit and the agent set no_new_privs
can("init_t", HELPER, "process2", "nnp_transition")
can(AGENT, HELPER, "process2", "nnp_transition")
can(AGENT, "binnacle_ipmi_runtime_t", "sock_file", "write")
can(AGENT, HELPER, "unix_stream_socket", "connectto")
can(HELPER, "binnacle_ipmi_runtime_t", "sock_file", "create", "unlink", "setattr")

can(AGENT, "sysfs_t", "file", "open", "read", "getattr")
can(AGENT, "sysfs_t", "lnk_file", "read")
can(AGENT, AGENT, "capability", "dac_read_search")
can(AGENT, AGENT, "capability2", "perfmon")
can(AGENT, AGENT, "perf_event", "open", "cpu", "kernel", "read")
can(AGENT, AGENT, "tcp_socket", "create", "listen", "accept", "connect")
can(AGENT, "unreserved_port_t", "tcp_socket", "name_bind", "name_connect")
can(AGENT, "proc_t", "file", "open", "read")
can(AGENT, "proc_net_t", "file", "open", "read")
can(AGENT, "binnacle_conf_t", "file", "open", "read")
can(AGENT, "binnacle_pki_t", "file", "open", "read")
can(AGENT, "binnacle_textfile_t", "file", "open", "read")
can(HELPER, "ipmi_device_t", "chr_file", "open", "read", "write", "ioctl")
can(HELPER, "binnacle_ipmi_cache_t", "file", "create", "write", "rename")

cannot(AGENT, "ipmi_device_t", "chr_file", "open", "read", "write")
for domain in (AGENT, HELPER):
    cannot(domain, "sysfs_t", "file", *WRITES)
    for secret in ("shadow_t", "user_home_t", "sshd_key_t", "etc_runtime_t"):
        cannot(domain, secret, "file", "write")
    for secret in ("shadow_t", "user_home_t", "sshd_key_t"):
        cannot(domain, secret, "file", "open", "read")
    for program in ("shell_exec_t", "init_exec_t", "sudo_exec_t"):
        cannot(domain, program, "file", "execute", "execute_no_trans")
    for device in ("memory_device_t", "cpu_device_t", "fixed_disk_device_t"):
        cannot(domain, device, "chr_file", "open", "read", "write")
        cannot(domain, device, "blk_file", "open", "read", "write")
    for mine in ("binnacle_conf_t", "binnacle_pki_t", "binnacle_agent_exec_t", "binnacle_ipmi_exec_t", "etc_t", "bin_t"):
        cannot(domain, mine, "file", *WRITES)
    cannot(domain, domain, "capability", "sys_admin", "sys_rawio", "dac_override", "sys_ptrace", "sys_module", "setuid", "net_admin")
    cannot(domain, domain, "process", "execmem", "execstack", "ptrace")
    cannot(domain, domain, "packet_socket")
    cannot(domain, domain, "rawip_socket")
    cannot(domain, "kernel_t", "system", "module_load", "syslog_mod")
cannot(HELPER, "binnacle_pki_t", "file", "open", "read")
cannot(HELPER, HELPER, "perf_event")
cannot(HELPER, "unreserved_port_t", "tcp_socket", "name_bind", "name_connect")
cannot("user_t", "binnacle_pki_t", "file", "open", "read")

for path, label in (("/usr/bin/binnacle-agent", "binnacle_agent_exec_t"), ("/usr/bin/binnacle-ipmi", "binnacle_ipmi_exec_t"),
                    ("/etc/binnacle/pki(/.*)?", "binnacle_pki_t"), ("/dev/ipmi", "ipmi_device_t")):
    if not any(line.startswith(path) and label in line for line in contexts.splitlines()):
        failed.append(f"{path} is not labelled {label}")

# The profile for containers: do the classes, types and permissions that it names exist? Its container types are not in this policy.
profile = yaml.safe_load((pathlib.Path(__file__).parent / "selinux-profile.yaml").read_text())
for target, classes in profile["spec"]["allow"].items():
    if target != "@self":
        policy.lookup_type(target)
    for name, wanted in classes.items():
        unknown = set(wanted) - permissions_of(policy.lookup_class(name))
        if unknown:
            failed.append(f"the profile wants {' '.join(sorted(unknown))} of {name}, which has no such permission")

for finding in failed:
    print(finding)
print(f"{len(failed)} of the policy's answers are wrong" if failed else "the policy answers as it must")
sys.exit(1 if failed else 0)

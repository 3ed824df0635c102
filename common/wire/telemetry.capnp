@0xad978805baeb0414;

# The language between a node's agent and an aggregator replica, inside TLS 1.3 (ALPN "binnacle/1"). README.md beside this
# file is the format on one page: the frame around each message, its byte layout, a worked example.
#
# Who speaks, in what order
#
#   agent                                aggregator
#   Hello                           ->
#                                   <-   Welcome, or Refused and the end
#   Catalog                         ->                                   again whenever the set of series changes
#   Batch (full), Batch, Batch, …   ->                                   the first batch after each Catalog is full
#   StatusReport                    ->                                   once after Welcome and whenever a source's health changes
#                                   <-   Interest                        whenever the policies in force change
#                                   <-   Clock                           once after Welcome, then seldom
#   Clock                           ->                                   at once, for each that came
#   Hello (new credential)          ->                                   before Welcome.reauthenticateAfterS has passed
#                                   <-   Welcome, or Refused and the end
#   Goodbye                        <->                                   the sender closes after it
#
# The kind of a message is in its frame's header, so each struct here is the root of its own message.
#
# What a reader must tolerate (within one major version)
#
#   - fields it does not know, and missing fields, which have their defaults;
#   - kinds of frames it does not know: it skips and counts them;
#   - values of an enum it does not know: what they then count as is said at the enum;
#   - a peer of one minor version less or more. A major version differs when any of this would not be enough.
#
# What is for ever: ordinals and types of fields, whose list telemetry.ordinals a test compares with this file. A field that is
# no longer wanted is renamed obsoleteX and stays. The layout of Hello and Refused stays through all major versions, so that
# two peers that cannot work together can say so.
#
# Units are in the names. Times are the agent's CLOCK_BOOTTIME, unless they say otherwise.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("binnacle::wire::schema");

struct Hello {
  # The first message of an agent, and again to renew its credential in a running session.

  protocolMajor @0 :UInt16;
  # Must equal the reader's. 1 today.

  protocolMinor @1 :UInt16;

  agentVersion @2 :Text;
  # For people; nothing depends on it.

  cluster @3 :Text;
  # "" unless the installation names its clusters. An aggregator serves one.

  node @4 :Text;
  # The node this connection speaks for, and the only one: it must be the name in the client certificate or the credential.

  bootId @5 :Text;
  # /proc/sys/kernel/random/boot_id. A new one means that CLOCK_BOOTTIME started again.

  credential @6 :Text;
  # A projected service account token. Empty when the client certificate speaks for the node. Secret: never logged.

  process @7 :UInt64;
  # A random number that the agent draws when it starts: all its links say the same. So a reader can tell a second link of one
  # agent from a second agent. 0: the agent is older than version 1.4.
}

struct Welcome {
  # The aggregator has accepted the Hello.

  protocolMajor @0 :UInt16;
  protocolMinor @1 :UInt16;

  replicaId @2 :Text;
  # Which aggregator replica this is; an agent holds one link to each.

  replicas @3 :UInt16 = 1;
  # How many replicas there are. Behind one address an agent dials until it has met them all.

  reauthenticateAfterS @4 :UInt32;
  # Seconds after which the session ends unless another Hello was accepted before. 0: never.
}

struct Refused {
  # The aggregator does not want this session and closes it.

  reason @0 :Text;
  # The name of a reason ("wrong_node"), or the name, ": " and a sentence.

  retryAfterMs @1 :UInt32;
  # Not before this many milliseconds should the agent try again. 0: its own back-off.
}

struct Catalog {
  # The node's series, in the order batches index them. It replaces the previous one whole; values of the previous one are not
  # carried over, hence the full batch that must follow.

  version @0 :UInt32;
  # Batches name the catalog they are written for.

  groups @1 :List(Group);
  # At most 4,096.

  texts @2 :List(Text);
  # Label names and values, each once: series point into this list.

  families @3 :List(Family);
  # Series point into this list.

  series @4 :List(Series);
  # At most 65,535.
}

struct Group {
  # Series that one read refreshes together.

  source @0 :Text;
  # "rapl", "os", "textfile"…

  name @1 :Text;
  # Within the source: "", or a sensor, or a file.

  periodMs @2 :UInt32 = 1000;

  staleAfterMs @3 :UInt32 = 10000;
  # A value older than this counts as absent.
}

struct Family {
  name @0 :Text;
  # A metric name in Prometheus form.

  help @1 :Text;
  # For families that are not Binnacle's own.
}

enum Kind {
  # An unknown kind counts as a gauge.

  gauge @0;
  counter @1;
}

struct Series {
  family @0 :UInt16;
  # Index into Catalog.families.

  group @1 :UInt16;
  # Index into Catalog.groups.

  exponent @2 :Int8;
  # A value is its mantissa times ten to this; within -18..18.

  kind @3 :Kind;

  labels @4 :List(UInt32);
  # Name and value in turn, each an index into Catalog.texts; at most 32 pairs.
}

struct Batch {
  # What was read since the previous batch. Columns, because they pack well. A series that is in no column keeps its value, and
  # its age follows its group's read time.

  sequence @0 :UInt64;
  # One more than the previous batch's. Only a full batch may leave numbers out.

  sentAtUs @1 :UInt64;
  # Microseconds of boot time. Never less than the previous batch's.

  catalogVersion @2 :UInt32;

  full @3 :Bool;
  # Every series of the catalog is in `changed` or among the absent ones, and deltas count from 0.

  deltas @4 :List(UInt32);
  # For each changed series, in the order of the catalog: new mantissa - previous mantissa, zigzag (0, -1, 1, -2 are written
  # 0, 1, 2, 3). The previous mantissa is the last one sent in this session under this catalog, also if the series has been
  # absent since; 0 if there is none. 0xffffffff says that the difference is too large and that `wide` has the mantissa itself.

  readAgesUs @5 :List(UInt64);
  # For each group that was read: how long before sentAtUs its last successful read returned.

  changed @6 :Data;
  # Bitmap of the changed series, lowest bit of the first byte first. Empty: all of them if there are deltas, else none.

  readGroups @7 :List(UInt16);
  # The groups of readAgesUs, ascending. Empty: groups 0, 1, 2… as many as there are ages.

  wide @8 :List(Int64);
  # Mantissas that did not fit into `deltas`, in the same order.

  absentSeries @9 :List(UInt16);
  # Series that lost their value, ascending.

  absentReasons @10 :List(Absence);
  # Why, for each of absentSeries.
}

enum Absence {
  # Why a series has no value. A reader takes an unknown reason as "other".

  other @0;
  notReadYet @1;
  missing @2;
  # The file, sensor or zone is not there (any more).
  permission @3;
  malformed @4;
  timeout @5;
  noData @6;
  # The device says that it has nothing now.
  reset @7;
  # A counter went back: no rate until the next sample.
  gap @8;
  # Too long since the last read to make a rate.
  notRunning @9;
  # A perf event that was never scheduled.
  outOfRange @10;
  # NaN, infinite, or more than a mantissa holds.
  frozen @11;
  # The sensor is stuck: the same reading again and again while similar sensors move. Since 1.2; a reader of 1.1 shows "other".
  neverMoved @12;
  # An energy counter that has stood still since it was first seen. This and the next two since 1.3; a reader of 1.2 shows "other".
  standsStill @13;
  # An energy counter that moved once and has stood still for longer than it can.
  implausible @14;
  # The number cannot be true: 0 W from a thing that is on, or less than a part of it draws.
}

struct StatusReport {
  # The health of all sources that have something to say; replaces the previous report.

  sources @0 :List(SourceStatus);
  # At most 256.
}

struct SourceStatus {
  source @0 :Text;
  ok @1 :Bool = true;
  message @2 :Text;
  # One sentence with the remedy when not ok; at most 1 KiB.
}

struct Interest {
  # What the policies in force watch and how often they want it; replaces the previous interest. An agent gives what it can.

  wishes @0 :List(Wish);
  # At most 1,024. A reader leaves out, and counts, a wish for what is no metric name and those that are too many; an agent of
  # 1.2 ended its session over the first, so an aggregator sends none.
}

struct Wish {
  family @0 :Text;
  periodMs @1 :UInt32 = 1000;
}

struct Goodbye {
  reason @0 :Text;
  # As in Refused.
}

struct Clock {
  # What two clocks show. The aggregator sends its own; the agent sends the same message back with its own beside it. The agent's
  # time is later than the aggregator's by the way there, however long the answer waits behind batches on a full line. Since 1.1;
  # an agent of 1.0 skips it.

  aggregatorUs @0 :UInt64;
  # Microseconds of the aggregator's CLOCK_BOOTTIME.

  agentUs @1 :UInt64;
  # Microseconds of the agent's CLOCK_BOOTTIME when the message came; 0 on the way there.
}

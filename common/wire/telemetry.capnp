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
#   - fields that it does not know; a field that is missing has its default;
#   - kinds of frames that it does not know: it skips and counts them;
#   - values of an enum that it does not know: the comment at the enum says what such a value counts as;
#   - a peer whose minor version is one less or one more. A change that needs more than this gets another major version.
#
# Ordinals and types of fields stay for ever: a test compares this file with their list, telemetry.ordinals. A field that is
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
  # The only node that this connection speaks for. The client certificate or the credential must have the same name.

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
  # How many replicas there are. If all are behind one address, an agent dials until it has a link to each.

  reauthenticateAfterS @4 :UInt32;
  # Seconds after which the session ends unless another Hello was accepted before. 0: never.
}

struct Refused {
  # The aggregator does not want this session and closes it.

  reason @0 :Text;
  # The name of a reason ("wrong_node"), or the name, ": " and a sentence.

  retryAfterMs @1 :UInt32;
  # The agent should wait at least so many milliseconds before it tries again. 0: as long as its own back-off says.
}

struct Catalog {
  # The node's series. Batches name a series by its place in this list. A catalog replaces the previous one as a whole and keeps
  # no value of it, so a full batch must follow.

  version @0 :UInt32;
  # A batch names the version that it is written for.

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
  # A value is its mantissa times ten to this power, which is at least -18 and at most 18.

  kind @3 :Kind;

  labels @4 :List(UInt32);
  # Name and value in turn, each an index into Catalog.texts; at most 32 pairs.
}

struct Batch {
  # What was read since the previous batch, in columns, because columns pack well. A series that no column names keeps its
  # value; its age counts from the newest read of its group.

  sequence @0 :UInt64;
  # One more than the previous batch's. Only a full batch may leave numbers out.

  sentAtUs @1 :UInt64;
  # Microseconds of boot time. Never less than the previous batch's.

  catalogVersion @2 :UInt32;

  full @3 :Bool;
  # Every series of the catalog is in `changed` or among the absent ones, and deltas count from 0.

  deltas @4 :List(UInt32);
  # For each changed series, in the order of the catalog: its new mantissa minus the previous one, in zigzag form (0, -1, 1, -2
  # are written as 0, 1, 2, 3). The previous mantissa is the last one that was sent in this session under this catalog, even if
  # the series was absent in between, or 0 if none was sent. 0xffffffff: the difference is too large; `wide` has the new mantissa.

  readAgesUs @5 :List(UInt64);
  # For each group that was read: the time from the end of its last successful read to sentAtUs.

  changed @6 :Data;
  # Bitmap of the changed series, from the lowest bit of the first byte on. Empty: all series changed if there are deltas, else none.

  readGroups @7 :List(UInt16);
  # The groups of readAgesUs, in ascending order. Empty: groups 0, 1, 2…, as many as there are ages.

  wide @8 :List(Int64);
  # Mantissas that did not fit into `deltas`, in the same order.

  absentSeries @9 :List(UInt16);
  # Series that lost their value, ascending.

  absentReasons @10 :List(Absence);
  # The reason for each of absentSeries.
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
  # The health of all sources that have something to say. A report replaces the previous one.

  sources @0 :List(SourceStatus);
  # At most 256.
}

struct SourceStatus {
  source @0 :Text;
  ok @1 :Bool = true;
  message @2 :Text;
  # If the source is not ok: one sentence, with the remedy; at most 1 KiB.
}

struct Interest {
  # What the policies in force watch, and how often they want it read. It replaces the previous interest. An agent reads as often
  # as its budget lets it.

  wishes @0 :List(Wish);
  # At most 1,024. A reader leaves out and counts wishes beyond that number, and wishes whose family is no metric name. An agent
  # of 1.2 ends its session when such a name comes, so an aggregator sends none.
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
  # What two clocks show. The aggregator sends its own time. The agent adds the time at which the message came, and sends it back.
  # So the two times differ only by the clocks' offset and the way to the agent, however long the answer then waits behind batches
  # on a full line. Since 1.1; an agent of 1.0 skips it.

  aggregatorUs @0 :UInt64;
  # Microseconds of the aggregator's CLOCK_BOOTTIME.

  agentUs @1 :UInt64;
  # Microseconds of the agent's CLOCK_BOOTTIME when the message came; 0 in the aggregator's message.
}

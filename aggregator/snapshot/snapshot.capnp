# The part of a replica's state that must outlive its process (aggregator/snapshot/README.md). It is written packed,
# as one message after another. The first message has everything but nodes, and as many nodes as fit into a piece of
# some 256 KiB. Each further message has only nodes. In version 1 there was one message, with all nodes.
# Words are sequences of whole numbers. Only the classes that write and read them know what they mean; a change of
# their layout needs another version.
@0xd2f4c8a1b37e5096;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("binnacle::aggregator::schema");

struct Snapshot {
  version @0 :UInt16;
  bootId @1 :Text;      # /proc/sys/kernel/random/boot_id: instants count from this boot
  bootNs @2 :Int64;     # CLOCK_BOOTTIME when the snapshot was taken
  wallNs @3 :Int64;     # CLOCK_REALTIME then, since 1970
  columns @4 :List(Column);
  strategies @5 :List(Strategy);
  nodes @6 :List(Node);
  nodeCount @7 :UInt32; # in all messages together; only the first message has it
  policies @8 :List(Policy);  # older releases neither write nor read them
  saysHeard @9 :Bool;   # a node without `heard` has never been heard; false: an older release says it of no node
}

# A version of a policy. The present file or object may have another text by now.
struct Policy {
  manifest @0 :Text;    # a TASPolicy in YAML
  source @1 :Text;      # the file's path, or "TASPolicy namespace/name"
  read @2 :Bool;        # the last version of which everything was right
  inForce @3 :Bool;     # the last version that was affordable
}

struct Column {
  metric @0 :Text;
  windowNs @1 :Int64;
  statistic @2 :UInt8;
  meaning @3 :Text;     # what the name stood for by the aliases then in force
}

struct Strategy {
  namespace @0 :Text;
  name @1 :Text;
  kind @2 :Text;       # as in spec.strategies
  content @3 :UInt64;
  given @4 :Bool;       # lastGivenNs counts
  lastGivenNs @5 :Int64;
  uid @6 :Text;         # of the TASPolicy object; empty for files, and in snapshots of older releases
  disowned @7 :Bool;    # it could give no labels: those under its name were another policy's. Older releases do not say it
}

struct Node {
  name @0 :Text;
  # First the values and windows of columns, then the states of strategies. Both parts begin with the number of entries; an entry is
  # an index into columns or strategies, the number of its words, and these words.
  # Then what was learned of the node's watts: the number of words, and the words. Older releases have no such part.
  words @1 :List(Int64);
  labels @2 :List(Label);   # standalone only
  tenants @3 :List(Tenant); # in the order in which they came; older releases neither write nor read them
  # From when until when its agent was connected, short pauses not counted. Older releases have no such fields.
  heard @4 :Bool;           # the two instants count
  sinceNs @5 :Int64;
  untilNs @6 :Int64;        # if a session goes on, when the snapshot was taken
  uid @7 :Text;             # of the Node object, in a cluster
}

# An address from which an agent of the node was welcomed.
struct Tenant {
  address @0 :Data;         # 16 bytes; IPv4 is mapped into IPv6
  bootId @1 :Text;          # of the machine there, as it says
  lastNs @2 :Int64;         # when its last session ended; if one goes on, when the snapshot was taken
}

struct Label {
  key @0 :Text;
  value @1 :Text;
}

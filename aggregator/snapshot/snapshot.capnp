# The state of a replica that must outlive its process (aggregator/snapshot/README.md). Written packed, as one
# message after the other: the first has everything, and as many nodes as fit into a piece of some 256 KiB; each
# of the following has nodes alone. In version 1 there was one message, with all nodes.
# Words are runs of whole numbers whose meaning belongs to the classes that write and read them; a change of
# their layout is another version.
@0xd2f4c8a1b37e5096;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("binnacle::aggregator::schema");

struct Snapshot {
  version @0 :UInt16;
  bootId @1 :Text;      # /proc/sys/kernel/random/boot_id: whose boot time the instants are
  bootNs @2 :Int64;     # CLOCK_BOOTTIME when the snapshot was taken
  wallNs @3 :Int64;     # CLOCK_REALTIME then, since 1970
  columns @4 :List(Column);
  strategies @5 :List(Strategy);
  nodes @6 :List(Node);
  nodeCount @7 :UInt32; # of all messages; in the first one
  policies @8 :List(Policy);  # older releases write and read none
}

# A version of a policy that the texts of now may not say any more.
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
}

struct Node {
  name @0 :Text;
  # Twice: how many, then for each its index in columns or strategies, the number of words, and the words.
  # Then what was learned of its watts: how many words, and the words. Older releases write and read no such part.
  words @1 :List(Int64);
  labels @2 :List(Label);   # standalone only
}

struct Label {
  key @0 :Text;
  value @1 :Text;
}

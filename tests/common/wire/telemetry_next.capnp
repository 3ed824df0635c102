@0xa7190c3fb8631464;

# What the next minor version might look like: the messages of common/wire/telemetry.capnp with fields, enumerants and list
# elements added. compatibility_test.cpp sends both ways between the two.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("binnacle::wire::next");

struct Hello {
  protocolMajor @0 :UInt16;
  protocolMinor @1 :UInt16;
  agentVersion @2 :Text;
  cluster @3 :Text;
  node @4 :Text;
  bootId @5 :Text;
  credential @6 :Text;
  process @7 :UInt64;
  region @8 :Text = "nowhere";
  features @9 :UInt64;
  aliases @10 :List(Text);
}

struct Welcome {
  protocolMajor @0 :UInt16;
  protocolMinor @1 :UInt16;
  replicaId @2 :Text;
  replicas @3 :UInt16 = 1;
  reauthenticateAfterS @4 :UInt32;
  creditBytes @5 :UInt64 = 65536;
}

struct Catalog {
  version @0 :UInt32;
  groups @1 :List(Group);
  texts @2 :List(Text);
  families @3 :List(Family);
  series @4 :List(Series);
  histograms @5 :List(Text);
}
struct Group {
  source @0 :Text;
  name @1 :Text;
  periodMs @2 :UInt32 = 1000;
  staleAfterMs @3 :UInt32 = 10000;
  priority @4 :UInt8 = 3;
}
struct Family {
  name @0 :Text;
  help @1 :Text;
  unit @2 :Text;
}
enum Kind {
  gauge @0;
  counter @1;
  histogram @2;
}
struct Series {
  family @0 :UInt16;
  group @1 :UInt16;
  exponent @2 :Int8;
  kind @3 :Kind;
  labels @4 :List(UInt32);
  exemplars @5 :List(UInt64);
  flags @6 :UInt64;
}

struct Batch {
  sequence @0 :UInt64;
  sentAtUs @1 :UInt64;
  catalogVersion @2 :UInt32;
  full @3 :Bool;
  deltas @4 :List(UInt32);
  readAgesUs @5 :List(UInt64);
  changed @6 :Data;
  readGroups @7 :List(UInt16);
  wide @8 :List(Int64);
  absentSeries @9 :List(UInt16);
  absentReasons @10 :List(Absence);
  urgent @11 :Bool;
  traceId @12 :Text;
}
enum Absence {
  other @0;
  notReadYet @1;
  missing @2;
  permission @3;
  malformed @4;
  timeout @5;
  noData @6;
  reset @7;
  gap @8;
  notRunning @9;
  outOfRange @10;
  frozen @11;
  neverMoved @12;
  standsStill @13;
  implausible @14;
  quarantined @15;
}

struct Budget {
  # A kind of message that this version does not know.
  joules @0 :UInt64;
}

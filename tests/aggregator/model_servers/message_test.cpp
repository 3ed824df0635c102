// Questions and answers as bytes: recorded from MLServer, from Triton, and from a TensorFlow model behind the
// definitions of TensorFlow Serving. Then answers that a faulty server might send.
#include "aggregator/model_servers/message.hpp"

#include "tests/common/grpc/frames.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <protozero/pbf_writer.hpp>
#include <vector>

namespace model_message_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using grpc::test::bytes_of;
using protozero::pbf_writer;

using values = std::vector<double>;

template <class T>
std::string raw(const std::vector<T>& all) {
  return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(T)};
}

result<values> watts(protocol speaks, const std::string& bytes, std::size_t count) {
  auto got = answer_in_message(speaks, bytes, count);
  if (got.has_error()) return got.error();
  return std::move(got->watts);
}
result<values> v2(const std::string& bytes, std::size_t count) { return watts(protocol::v2, bytes, count); }
result<values> tf(const std::string& bytes, std::size_t count) {
  return watts(protocol::tf_serving, bytes, count);
}

/// One output of the V2 protocol with these contents, and with raw bytes if there are any.
std::string infer(const std::string& type, const std::string& contents,
                  const std::vector<std::string>& raws = {}) {
  std::string out;
  pbf_writer to(out);
  pbf_writer output(to, 5);
  output.add_string(2, type);
  if (!contents.empty()) output.add_message(5, contents);
  output.commit();
  for (const std::string& one : raws) to.add_bytes(6, one);
  return out;
}

/// A TensorProto of this type and number of elements, with one more field.
template <class F>
std::string tensor(int type, std::int64_t elements, F&& rest) {
  std::string out;
  pbf_writer to(out);
  to.add_enum(1, type);
  {
    pbf_writer shape(to, 2);
    pbf_writer dimension(shape, 2);
    dimension.add_int64(1, elements);
  }
  rest(to);
  return out;
}

std::string predict(const std::vector<std::pair<std::string, std::string>>& outputs) {
  std::string out;
  pbf_writer to(out);
  for (const auto& [key, value] : outputs) {
    pbf_writer entry(to, 1);
    entry.add_string(1, key);
    entry.add_message(2, value);
  }
  return out;
}

TEST_SUITE("aggregator/model_servers/message") {
  TEST_CASE("a request to TensorFlow Serving is as its own library writes it") {
    question q;
    q.model = *tf_model(carrier::grpc, "h", 8500, "konohana", "1218", "konohana");
    q.top = 1;
    q.others = {.5, .5, .5};
    q.count = 3;
    CHECK(method_of(q.model.speaks) == "/tensorflow.serving.PredictionService/Predict");
    CHECK(message_of(q, 50, 1) ==
          bytes_of(
              "0a190a086b6f6e6f68616e61120308c2091a086b6f6e6f68616e6112280a06696e70757473121e0801120812020801"
              "12020804"
              "22100000003f0000003f0000003f0000003f"));
    q.top = 10;
    CHECK(message_of(q, 2, 2) ==
          bytes_of(
              "0a190a086b6f6e6f68616e61120308c2091a086b6f6e6f68616e6112380a06696e70757473122e0801120812020802"
              "12020804"
              "2220cdcc4c3e0000003f0000003f0000003f9a99993e0000003f0000003f0000003f"));
    q.model = *tf_model(carrier::grpc, "h", 8500, "konohana", "", "");
    CHECK_MESSAGE(message_of(q, 2, 2).starts_with(bytes_of("0a0a0a086b6f6e6f68616e61"
                                                           "1238")),
                  "without a version and a signature the server's own count");
  }

  TEST_CASE("a V2 request is as MLServer's own library writes it, but for the number of the request") {
    question q;
    q.model = *v2_model("grpc://h:8081/v2/models/pc-model/versions/v0.1.0");
    q.top = 1000;
    q.others = {22, .2, 0};
    CHECK(method_of(q.model.speaks) == "/inference.GRPCInferenceService/ModelInfer");
    const std::string recorded = bytes_of(
        "0a0870632d6d6f64656c120676302e312e301a01372a340a0c707265646963742d70726f621204465033321a0202032a1a"
        "3218000020410000b041cdcc4c3e0000a0410000b041cdcc4c3e");
    std::string expected = recorded;
    expected.erase(expected.find("\x1a\x01\x37"), 3);
    CHECK(message_of(q, 1, 2) == expected);
    q.model.version.clear();
    CHECK(message_of(q, 1, 2).starts_with(bytes_of("0a0870632d6d6f64656c2a34")));
  }

  TEST_CASE("a V2 request goes by the model's metadata: its input's name, type and shape") {
    question q;
    q.model = *v2_model("grpc://h:8001/v2/models/pc");
    q.others = {22, .5, 0};
    CHECK(message_of(q, 1, 1, {"x", true, model_input::shape::rows}) ==
          bytes_of("0a0270632a290a01781204465036341a0201032a1a3a18"
                   "000000000000f03f"
                   "0000000000003640"
                   "000000000000e03f"));
    CHECK(message_of(q, 1, 1, {"x", false, model_input::shape::bare}) ==
          bytes_of("0a0270632a1c0a01781204465033321a01032a0e320c"
                   "0000803f"
                   "0000b041"
                   "0000003f"));
  }

  TEST_CASE("metadata as Triton gave them are read, and a cut or garbled message is none") {
    CHECK(metadata_message_of(*v2_model("grpc://h:1/v2/models/pc-model/versions/1")) ==
          bytes_of("0a0870632d6d6f64656c120131"));
    CHECK(metadata_message_of(*v2_model("grpc://h:1/v2/models/pc-model")) ==
          bytes_of("0a0870632d6d6f64656c"));
    const std::string recorded = bytes_of(
        "0a0b6f746865722d696e7075741201311a06707974686f6e221d0a0866656174757265731204465036341a0bffffffffffff"
        "ffffff01032a1c0a07707265646963741204465033321a0bffffffffffffffffff0101");
    const auto read = described_in_message(recorded);
    REQUIRE(read.size() == 1);
    CHECK(read[0].name == "features");
    CHECK(read[0].datatype == "FP64");
    CHECK(read[0].shape == std::vector<std::int64_t>{-1, 3});
    for (std::size_t size = 0; size < recorded.size(); ++size)
      CHECK(described_in_message(recorded.substr(0, size)).size() <= 1);
    CHECK(described_in_message(std::string(100, '\xff')).empty());
    std::string odd;
    pbf_writer to(odd);
    {
      pbf_writer input(to, 4);
      for (const std::uint32_t field : {1U, 2U, 3U, 4U}) {
        input.add_fixed32(field, 1);
        input.add_fixed64(field, 1);
        input.add_uint64(field, 1);
      }
    }
    to.add_uint64(4, 1);
    const auto of_odd = described_in_message(odd);
    REQUIRE(of_odd.size() == 1);
    CHECK(of_odd[0].name.empty());
    CHECK_MESSAGE(of_odd[0].shape == std::vector<std::int64_t>{1}, "a size in a field of its own is one");
  }

  TEST_CASE("answers as TensorFlow, MLServer and Triton gave them are read") {
    const auto typed =
        tf(bytes_of("0a1d0a076f75747075747312120801120812020801120208012a042dabd74212190a086b6f6e6f6861"
                    "6e61120308c2091a086b6f6e6f68616e61"),
           1);
    REQUIRE(typed.has_value());
    CHECK(typed->front() == doctest::Approx(107.834328));
    const auto content =
        tf(bytes_of("0a210a076f757470757473121608011208120208021202080122084ae4bf42a86bc74212190a086b6f"
                    "6e6f68616e61120308c2091a086b6f6e6f68616e61"),
           2);
    REQUIRE(content.has_value());
    CHECK(content->at(0) == doctest::Approx(95.9459));
    CHECK(content->at(1) == doctest::Approx(99.7103));
    const auto mlserver =
        v2(bytes_of("0a0870632d6d6f64656c120676302e312e301a01372a3d0a07707265646963741204465036341a0202"
                    "0122140a0c636f6e74656e745f7479706512041a026e702a123a10313d0b4b0a8f6040f76d45"
                    "2329f36240"),
           2);
    REQUIRE(mlserver.has_value());
    CHECK(mlserver->at(0) == doctest::Approx(132.47000648684619).epsilon(1e-12));
    CHECK(mlserver->at(1) == doctest::Approx(151.59877170143565).epsilon(1e-12));
    const auto triton =
        v2(bytes_of("0a0870632d6d6f64656c1201311a01372a130a07707265646963741204465033321a02020132080a97"
                    "0443a4301843"),
           2);
    REQUIRE(triton.has_value());
    CHECK(triton->at(0) == doctest::Approx(132.59));
    CHECK(triton->at(1) == doctest::Approx(152.19));
  }

  TEST_CASE("numbers of every type are read, raw and in their own fields") {
    const auto is = [](const result<values>& got, const values& expected) {
      REQUIRE(got.has_value());
      CHECK(*got == expected);
    };
    const values two{100, 200};
    is(v2(infer("FP32", "", {raw<float>({100, 200})}), 2), two);
    is(v2(infer("FP64", "", {raw<double>({100, 200})}), 2), two);
    is(v2(infer("INT16", "", {raw<std::int16_t>({100, -200})}), 2), {100, -200});
    is(v2(infer("INT32", "", {raw<std::int32_t>({100, -200})}), 2), {100, -200});
    is(v2(infer("INT64", "", {raw<std::int64_t>({100, -200})}), 2), {100, -200});
    is(v2(infer("UINT8", "", {"\x64\xc8"}), 2), two);
    is(v2(infer("UINT32", "", {raw<std::uint32_t>({100, 200})}), 2), two);
    // In FP16, 100 is 1.5625 · 2^6, and 200 is twice that.
    is(v2(infer("FP16", "", {raw<std::uint16_t>({0x5640, 0x5a40})}), 2), two);
    is(v2(infer("BF16", "", {raw<std::uint16_t>({0x42c8, 0x4348})}), 2), two);
    const auto contents = [](auto&& add) {
      std::string out;
      pbf_writer to(out);
      add(to);
      return out;
    };
    const std::vector<std::int64_t> whole{100, 200};
    is(v2(infer("INT32", contents([&](pbf_writer& w) { w.add_packed_int64(2, whole.begin(), whole.end()); })),
          2),
       two);
    is(v2(infer("UINT64",
                contents([&](pbf_writer& w) { w.add_packed_int64(5, whole.begin(), whole.end()); })),
          2),
       two);
    is(v2(infer("FP32", contents([&](pbf_writer& w) {
                  w.add_float(6, 100);  // each value in a field of its own (not packed), as old writers do
                  w.add_float(6, 200);
                })),
          2),
       two);
    is(tf(predict({{"outputs",
                    tensor(2, 2, [&](pbf_writer& w) { w.add_packed_double(6, two.begin(), two.end()); })}}),
          2),
       two);
    is(tf(predict(
              {{"outputs",
                tensor(9, 2, [&](pbf_writer& w) { w.add_packed_int64(10, whole.begin(), whole.end()); })}}),
          2),
       two);
    is(tf(predict({{"outputs", tensor(19, 2,
                                      [&](pbf_writer& w) {
                                        w.add_int32(13, 0x5640);
                                        w.add_int32(13, 0x5a40);
                                      })}}),
          2),
       two);
    is(tf(predict({{"outputs", tensor(14, 2,
                                      [&](pbf_writer& w) {
                                        w.add_bytes(4, raw<std::uint16_t>({0x42c8, 0x4348}));
                                      })}}),
          2),
       two);
  }

  TEST_CASE(
      "TensorFlow's shortened list stands for equal values at its end, and a missing or empty one for none") {
    const auto floats = [](std::int64_t elements, std::vector<float> given) {
      return predict({{"outputs", tensor(1, elements, [&](pbf_writer& w) {
                         w.add_packed_float(5, given.begin(), given.end());
                       })}});
    };
    CHECK(*tf(floats(3, {100, 200}), 3) == values{100, 200, 200});
    CHECK_MESSAGE(tf(floats(2, {}), 2).has_error(), "an empty list");
    CHECK_MESSAGE(tf(floats(2, {1, 2, 3}), 2).has_error(), "more than were asked for");
    CHECK_MESSAGE(tf(floats(std::numeric_limits<std::int64_t>::max(), {1}), 2).has_error(),
                  "a shape without end costs nothing");
    CHECK(tf(floats(-1, {1}), 2).has_error());
    CHECK_MESSAGE(tf(predict({}), 1).error().message == "the answer has no output", "a missing key");
    CHECK(tf(floats(2, {std::numeric_limits<float>::quiet_NaN(), 1}), 2).error().message ==
          "the model says NaN or Infinity");
  }

  TEST_CASE("of several outputs the usual name counts, else the first") {
    const auto one = [](float w) { return tensor(1, 1, [w](pbf_writer& to) { to.add_float(5, w); }); };
    CHECK(tf(predict({{"b", one(2)}, {"outputs", one(3)}, {"a", one(1)}}), 1)->front() == 3);
    CHECK(tf(predict({{"b", one(2)}, {"a", one(1)}}), 1)->front() == 1);
    std::string two;
    pbf_writer to(two);
    for (const auto& [name, type] : {std::pair{"sd", "FP32"}, std::pair{"predict", "FP64"}}) {
      pbf_writer output(to, 5);
      output.add_string(1, name);
      output.add_string(2, type);
    }
    to.add_bytes(6, raw<float>({9}));
    CHECK_MESSAGE(v2(two, 1).has_error(), "its raw values are missing");
    to.add_bytes(6, raw<double>({5}));
    CHECK(v2(two, 1)->front() == 5);
  }

  TEST_CASE("a response of V2 says which version of the model answered") {
    const std::string output = infer("FP32", "", {raw<float>({100})});
    const auto version_in = [&output](const std::string& said) {
      const auto got = answer_in_message(protocol::v2, said + output, 1);
      REQUIRE(got.has_value());
      return got->version;
    };
    std::string said;
    pbf_writer to(said);
    to.add_string(1, "pc");
    to.add_string(2, "v7");
    CHECK(version_in(said) == "v7");
    CHECK(version_in("").empty());
    std::string odd;
    pbf_writer(odd).add_uint64(2, 7);
    CHECK(version_in(odd).empty());
    std::string large;
    pbf_writer(large).add_string(2, std::string(100'000, 'v'));
    CHECK(version_in(large) == std::string(model_answer::longest_version, 'v'));
  }

  TEST_CASE("defect: TensorFlow Serving says which version of the model answered, and it was not read") {
    const auto recorded = answer_in_message(
        protocol::tf_serving,
        bytes_of("0a1d0a076f75747075747312120801120812020801120208012a042dabd74212190a086b6f6e6f6861"
                 "6e61120308c2091a086b6f6e6f68616e61"),
        1);
    REQUIRE(recorded.has_value());
    CHECK(recorded->version == "1218");
    const auto version_in = [](const std::string& spec) {
      std::string said = predict({{"outputs", tensor(1, 1, [](pbf_writer& to) { to.add_float(5, 100); })}});
      pbf_writer(said).add_message(2, spec);
      const auto got = answer_in_message(protocol::tf_serving, said, 1);
      REQUIRE(got.has_value());
      return got->version;
    };
    CHECK_MESSAGE(version_in(bytes_of("1200")) == "0", "a wrapped number without a value is 0");
    CHECK(version_in(bytes_of("120308c209")) == "1218");
    CHECK(version_in("").empty());
    std::string odd;
    pbf_writer to(odd);
    to.add_uint64(2, 7);
    to.add_fixed32(2, 7);
    CHECK(version_in(odd).empty());
  }

  TEST_CASE("fewer values than were asked for are told apart, since the model may take fewer loads at once") {
    CHECK(v2(infer("FP32", "", {raw<float>({100})}), 2).error().code == errc::unsupported);
    CHECK(v2(infer("FP32", "", {raw<float>({100, 101, 102})}), 2).error().code == errc::protocol);
  }

  TEST_CASE("of a message with more than was asked for little is kept") {
    const std::string many(1u << 20, '\x01');
    CHECK(v2(infer("INT8", "", {many}), 2).error().message ==
          "the answer has more than 2 values for 2 loads");
    CHECK(tf(predict({{"outputs", tensor(1, 2,
                                         [](pbf_writer& w) {
                                           const std::vector<float> all(100'000, 1);
                                           w.add_packed_float(5, all.begin(), all.end());
                                         })}}),
             2)
              .error()
              .message == "the answer has more than 2 values for 2 loads");
    std::string one_by_one;
    pbf_writer to(one_by_one);
    for (int i = 0; i < 100'000; ++i) to.add_float(6, 1);
    CHECK(v2(infer("FP32", one_by_one), 2).error().message ==
          "the answer has more than 2 values for 2 loads");
    std::string outputs;
    for (int i = 0; i < 10'000; ++i) outputs += infer("FP32", "", {raw<float>({100})});
    CHECK(v2(outputs, 1)->front() == 100);
    std::string inputs;
    pbf_writer metadata(inputs);
    for (int i = 0; i < 10'000; ++i) {
      pbf_writer input(metadata, 4);
      const std::vector<std::int64_t> sizes(100, 3);
      input.add_packed_int64(3, sizes.begin(), sizes.end());
      for (int k = 0; k < 100; ++k) input.add_int64(3, 3);
    }
    const auto described = described_in_message(inputs);
    REQUIRE(described.size() == most_inputs);
    CHECK(described.back().shape.size() == most_sizes);
    CHECK(input_of(described, 3).error().message ==
          "by its metadata the model takes at least 16 inputs, and can be given one");
  }

  TEST_CASE("whatever else a server says is an error in words, wherever it is cut") {
    for (const std::string& bad :
         {std::string(), std::string("nonsense"), std::string(100, '\xff'), infer("FP32", ""),
          infer("BYTES", "", {"12345678"}), infer("FP32", "", {"123"}), infer("", "", {raw<float>({1, 2})}),
          infer("FP32", "", {raw<float>({1})}), infer("FP64", "", {raw<float>({1, 2})})}) {
      CAPTURE(bad);
      for (const protocol speaks : {protocol::v2, protocol::tf_serving}) {
        const auto got = answer_in_message(speaks, bad, 2);
        REQUIRE(got.has_error());
        CHECK_FALSE(got.error().message.empty());
      }
    }
    // Each numeric field with the wire type of each of the others. The fuzzer found this case.
    for (std::uint32_t field = 1; field < 20; ++field) {
      std::string odd;
      pbf_writer to(odd);
      to.add_fixed32(field, 1);
      to.add_fixed64(field, 1);
      to.add_uint64(field, 1);
      CHECK(v2(infer("FP32", odd), 100).has_error());
      CHECK(tf(predict({{"outputs", odd}}), 100).has_error());
      CHECK(v2(odd, 100).has_error());
      CHECK(tf(odd, 100).has_error());
    }
    const std::string good = infer("FP32", "", {raw<float>({100, 200})});
    REQUIRE(v2(good, 2).has_value());
    for (std::size_t size = 0; size < good.size(); ++size) CHECK(v2(good.substr(0, size), 2).has_error());
    CHECK_MESSAGE(v2(infer("FP32", "", {raw<float>({1, HUGE_VALF})}), 2).has_error(), "infinity");
  }
}

}  // namespace model_message_test

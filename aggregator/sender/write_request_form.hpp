#pragma once

#include <protozero/types.hpp>
#include <snappy.h>
#include <string>

/// The form of remote write 1.0 in bytes. Both versions need it, because requests that wait in 2.0 may be
/// translated.
namespace binnacle::sender {

/// prometheus/prompb: WriteRequest.timeseries; TimeSeries.labels, .samples; Label.name, .value; Sample.value,
/// .timestamp.
namespace version_1 {
inline constexpr protozero::pbf_tag_type request_series = 1, series_label = 1, series_sample = 2,
                                         label_name = 1, label_value = 2, sample_value = 1, sample_time = 2;
}  // namespace version_1

/// In snappy's block format.
inline std::string packed(const std::string& plain) {
  std::string out;
  snappy::Compress(plain.data(), plain.size(), &out);
  return out;
}
/// What packed() made, as it was before.
inline std::string unpacked(const std::string& body) {
  std::string out;
  snappy::Uncompress(body.data(), body.size(), &out);
  return out;
}

}  // namespace binnacle::sender

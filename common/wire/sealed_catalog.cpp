#include "common/wire/sealed_catalog.hpp"

#include "common/wire/codec/codec.hpp"

#include <utility>
#include <variant>

namespace binnacle::wire {

outcome<catalog_outline> sealed_catalog::opened::outline() const {
  if (what.has_error()) return what.error();
  return outline_of(*what);
}

sealed_catalog::opened sealed_catalog::open() const {
  opened out;
  scratch space;
  auto decoded = decode({frame_kind::catalog, version_, flags_, payload_}, space, out.left_out);
  if (decoded.has_error()) {
    out.what = decoded.error();
  } else {
    out.what = std::get<catalog>(std::move(*decoded));
  }
  return out;
}

}  // namespace binnacle::wire

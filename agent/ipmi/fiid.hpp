#pragma once

#include <freeipmi/fiid/fiid.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>

namespace binnacle::ipmi {

/// Room for one answer of a BMC, or for one question. Its fields have FreeIPMI's names.
class answer {
 public:
  explicit answer(fiid_field_t* form) : object_(::fiid_obj_create(form)) {
    if (!object_) throw std::bad_alloc();
  }

  fiid_obj_t get() const noexcept { return object_.get(); }

  /// The field's value. Nothing if the answer is too short to contain it.
  std::optional<std::uint64_t> field(const char* name) const {
    std::uint64_t value = 0;
    if (::fiid_obj_get(object_.get(), name, &value) != 1) return std::nullopt;
    return value;
  }

 private:
  struct destroy {
    void operator()(struct fiid_obj* o) const noexcept { ::fiid_obj_destroy(o); }
  };
  std::unique_ptr<struct fiid_obj, destroy> object_;
};

}  // namespace binnacle::ipmi

#pragma once

#include <memory>
#include <utility>

#include "agent/transport/rdma/verbs_api.hpp"

namespace rehearsal::rdma {

/// Owns one object of verbs: releases it by the function of the table that belongs to it. An owner
/// stands before what it is made of is gone: members in order of creation are released in reverse.
/// Nothing can be done about a release that fails: the kernel releases all when the process ends.
template <typename Object, int (*VerbsApi::*Release)(Object*)>
class Owned {
 public:
  Owned() = default;
  Owned(const VerbsApi& api, Object* object) : api_(&api), object_(object) {}
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept
      : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(object_, other.object_);
    return *this;
  }

  Object* get() const noexcept { return object_; }
  Object* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset() noexcept {
    if (Object* object = std::exchange(object_, nullptr)) (api_->*Release)(object);
  }

 private:
  const VerbsApi* api_ = nullptr;
  Object* object_ = nullptr;
};

using DeviceContext = Owned<ibv_context, &VerbsApi::close_device>;
using ProtectionDomain = Owned<ibv_pd, &VerbsApi::dealloc_pd>;
using MemoryRegion = Owned<ibv_mr, &VerbsApi::dereg_mr>;
using CompletionChannel = Owned<ibv_comp_channel, &VerbsApi::destroy_comp_channel>;
using CompletionQueue = Owned<ibv_cq, &VerbsApi::destroy_cq>;
using QueuePair = Owned<ibv_qp, &VerbsApi::destroy_qp>;
using AddressHandle = Owned<ibv_ah, &VerbsApi::destroy_ah>;

}  // namespace rehearsal::rdma

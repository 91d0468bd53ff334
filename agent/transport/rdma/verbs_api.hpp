#pragma once

#include <infiniband/verbs.h>

#include <string>

#include "core/base/result.hpp"

namespace rehearsal::rdma {

/// The verbs that this transport uses, as a table: filled from libibverbs at run time, so that one
/// program starts on hosts with and without it, or by a test. Each entry does what the function of
/// its name (ibv_…) does.
struct VerbsApi {
  ibv_device** (*get_device_list)(int*) = nullptr;
  void (*free_device_list)(ibv_device**) = nullptr;
  const char* (*get_device_name)(ibv_device*) = nullptr;
  ibv_context* (*open_device)(ibv_device*) = nullptr;
  int (*close_device)(ibv_context*) = nullptr;
  int (*query_device)(ibv_context*, ibv_device_attr*) = nullptr;
  /// EOPNOTSUPP: the provider has only query_device.
  int (*query_device_ex)(ibv_context*, ibv_device_attr_ex*) = nullptr;
  int (*query_port)(ibv_context*, std::uint8_t, ibv_port_attr*) = nullptr;
  int (*query_gid)(ibv_context*, std::uint8_t, int, ibv_gid*) = nullptr;
  ibv_pd* (*alloc_pd)(ibv_context*) = nullptr;
  int (*dealloc_pd)(ibv_pd*) = nullptr;
  ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int) = nullptr;
  int (*dereg_mr)(ibv_mr*) = nullptr;
  ibv_comp_channel* (*create_comp_channel)(ibv_context*) = nullptr;
  int (*destroy_comp_channel)(ibv_comp_channel*) = nullptr;
  ibv_cq* (*create_cq)(ibv_context*, int, void*, ibv_comp_channel*, int) = nullptr;
  int (*destroy_cq)(ibv_cq*) = nullptr;
  int (*get_cq_event)(ibv_comp_channel*, ibv_cq**, void**) = nullptr;
  void (*ack_cq_events)(ibv_cq*, unsigned) = nullptr;
  int (*req_notify_cq)(ibv_cq*, int) = nullptr;
  int (*poll_cq)(ibv_cq*, int, ibv_wc*) = nullptr;
  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*) = nullptr;
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int) = nullptr;
  int (*modify_qp_rate_limit)(ibv_qp*, ibv_qp_rate_limit_attr*) = nullptr;
  int (*destroy_qp)(ibv_qp*) = nullptr;
  /// Null where libibverbs is older than they are (rdma-core 31).
  int (*query_ece)(ibv_qp*, ibv_ece*) = nullptr;
  int (*set_ece)(ibv_qp*, ibv_ece*) = nullptr;
  ibv_ah* (*create_ah)(ibv_pd*, ibv_ah_attr*) = nullptr;
  int (*destroy_ah)(ibv_ah*) = nullptr;
  int (*post_send)(ibv_qp*, ibv_send_wr*, ibv_send_wr**) = nullptr;
  int (*post_recv)(ibv_qp*, ibv_recv_wr*, ibv_recv_wr**) = nullptr;
  int (*get_async_event)(ibv_context*, ibv_async_event*) = nullptr;
  void (*ack_async_event)(ibv_async_event*) = nullptr;
};

/// Loads libibverbs once a process and keeps it. `not_found` where there is none, with what to
/// install; `unsupported` where a verb is missing.
Result<const VerbsApi*> load_verbs();

}  // namespace rehearsal::rdma

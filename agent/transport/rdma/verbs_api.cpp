#include "agent/transport/rdma/verbs_api.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <memory>

namespace rehearsal::rdma {
namespace {

constexpr const char* kLibrary = "libibverbs.so.1";

template <typename Function>
void take(void* library, const char* name, Function*& target, std::string& missing) {
  target = reinterpret_cast<Function*>(::dlsym(library, name));
  if (target == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(name);
}

template <typename Function>
void take_if_there(void* library, const char* name, Function*& target) {
  target = reinterpret_cast<Function*>(::dlsym(library, name));
}

// What the header has as inline functions over the context's own table.
void take_inline(VerbsApi& api) {
  api.req_notify_cq = [](ibv_cq* cq, int solicited) {
    return cq->context->ops.req_notify_cq(cq, solicited);
  };
  api.poll_cq = [](ibv_cq* cq, int count, ibv_wc* wc) {
    return cq->context->ops.poll_cq(cq, count, wc);
  };
  api.post_send = [](ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
    return qp->context->ops.post_send(qp, request, bad);
  };
  api.post_recv = [](ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
    return qp->context->ops.post_recv(qp, request, bad);
  };
  api.query_device_ex = [](ibv_context* context, ibv_device_attr_ex* device) {
    verbs_context* extended = verbs_get_ctx_op(context, query_device_ex);
    if (extended == nullptr) return EOPNOTSUPP;
    *device = {};
    return extended->query_device_ex(context, nullptr, device, sizeof *device);
  };
  api.modify_qp_rate_limit = [](ibv_qp* qp, ibv_qp_rate_limit_attr* limit) {
    return ibv_modify_qp_rate_limit(qp, limit);
  };
}

struct Loaded {
  VerbsApi api;
  std::string missing;
  std::string why;
};

Loaded load() {
  Loaded loaded;
  // Never closed: providers start threads and keep state for as long as the process lives.
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.why = ::dlerror();
    return loaded;
  }
  VerbsApi& api = loaded.api;
  std::string& missing = loaded.missing;
  take(library, "ibv_get_device_list", api.get_device_list, missing);
  take(library, "ibv_free_device_list", api.free_device_list, missing);
  take(library, "ibv_get_device_name", api.get_device_name, missing);
  take(library, "ibv_open_device", api.open_device, missing);
  take(library, "ibv_close_device", api.close_device, missing);
  take(library, "ibv_query_device", api.query_device, missing);
  take(library, "ibv_query_port", api.query_port, missing);
  take(library, "ibv_query_gid", api.query_gid, missing);
  take(library, "ibv_alloc_pd", api.alloc_pd, missing);
  take(library, "ibv_dealloc_pd", api.dealloc_pd, missing);
  take(library, "ibv_reg_mr", api.reg_mr, missing);
  take(library, "ibv_dereg_mr", api.dereg_mr, missing);
  take(library, "ibv_create_comp_channel", api.create_comp_channel, missing);
  take(library, "ibv_destroy_comp_channel", api.destroy_comp_channel, missing);
  take(library, "ibv_create_cq", api.create_cq, missing);
  take(library, "ibv_destroy_cq", api.destroy_cq, missing);
  take(library, "ibv_get_cq_event", api.get_cq_event, missing);
  take(library, "ibv_ack_cq_events", api.ack_cq_events, missing);
  take(library, "ibv_create_qp", api.create_qp, missing);
  take(library, "ibv_modify_qp", api.modify_qp, missing);
  take(library, "ibv_destroy_qp", api.destroy_qp, missing);
  take(library, "ibv_create_ah", api.create_ah, missing);
  take(library, "ibv_destroy_ah", api.destroy_ah, missing);
  take(library, "ibv_get_async_event", api.get_async_event, missing);
  take(library, "ibv_ack_async_event", api.ack_async_event, missing);
  take_if_there(library, "ibv_query_ece", api.query_ece);
  take_if_there(library, "ibv_set_ece", api.set_ece);
  take_inline(api);
  return loaded;
}

}  // namespace

Result<const VerbsApi*> load_verbs() {
  static const Loaded loaded = load();
  if (!loaded.why.empty()) {
    return fail(ErrorCode::not_found, ErrorSource::transport,
                "[REHEARSAL-RDMA-001] there is no RDMA library here (" + loaded.why +
                    "); right would be the packages libibverbs1 and ibverbs-providers, or those "
                    "of the NIC's vendor");
  }
  if (!loaded.missing.empty()) {
    return fail(ErrorCode::unsupported, ErrorSource::transport,
                "[REHEARSAL-RDMA-001] " + std::string(kLibrary) + " lacks " + loaded.missing +
                    "; right would be rdma-core 17 or later");
  }
  return &loaded.api;
}

}  // namespace rehearsal::rdma

#include "binding/process.h"

#include <torch/headeronly/version.h>

#include <mutex>
#include <set>
#include <thread>

#include "binding/threads.h"
#include "tensor.h"

namespace grpo {
namespace {

Napi::Value torch_version(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) +
                                           "." + std::to_string(TORCH_VERSION_PATCH));
}

Napi::Value threads(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), at::get_num_threads()); }

// How many threads one at::parallel_for really ran on: 1 on a machine with several processors means that the core was
// compiled without OpenMP.
Napi::Value parallel_threads_seen(const Napi::CallbackInfo& info) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  at::parallel_for(0, at::get_num_threads(), 1, [&](int64_t, int64_t) {
    std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return Napi::Number::New(info.Env(), static_cast<double>(seen.size()));
}

// For process.on('exit'): ends this environment's threads while everything that libtorch has made still lives. false: one
// is not back yet, and the exit handler will leave without it.
Napi::Value leave(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), ThreadRegistry::instance().stop(info.Env(), kLeaveTimeout));
}

}  // namespace

void register_process(Napi::Env env, Napi::Object exports) {
  exports.Set("torchVersion", Napi::Function::New(env, torch_version, "torchVersion"));
  exports.Set("threads", Napi::Function::New(env, threads, "threads"));
  exports.Set("parallelThreadsSeen", Napi::Function::New(env, parallel_threads_seen, "parallelThreadsSeen"));
  exports.Set("leave", Napi::Function::New(env, leave, "leave"));
}

}  // namespace grpo

// What JavaScript sees of the core. One set of exports an environment: the main thread and every worker has its own.

#include <napi.h>

#include <string>

#include "tensor.h"
#include <c10/macros/Macros.h>
#include <torch/headeronly/version.h>

namespace grpo {
namespace {

Napi::Value torch_version(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
                                           std::to_string(TORCH_VERSION_PATCH));
}

Napi::Value threads(const Napi::CallbackInfo& info) { return Napi::Number::New(info.Env(), at::get_num_threads()); }

}  // namespace
}  // namespace grpo

extern "C" __attribute__((visibility("default"))) napi_value grpo_core_init(napi_env raw_env, napi_value raw_exports) {
  Napi::Env env(raw_env);
  Napi::Object exports(env, raw_exports);
  exports.Set("torchVersion", Napi::Function::New(env, grpo::torch_version, "torchVersion"));
  exports.Set("threads", Napi::Function::New(env, grpo::threads, "threads"));
  return exports;
}

// What JavaScript sees of the core. One set of exports an environment: the main thread and every worker has its own.

#include <napi.h>

#include "binding/process.h"

extern "C" __attribute__((visibility("default"))) napi_value grpo_core_init(napi_env raw_env, napi_value raw_exports) {
  Napi::Env env(raw_env);
  Napi::Object exports(env, raw_exports);
  grpo::register_process(env, exports);
  return exports;
}

// What the core says about its process: libtorch's version, its threads, and the way out.
#pragma once

#include <napi.h>

namespace grpo {

// Adds torchVersion(), threads(), parallelThreadsSeen() and leave() to the exports.
void register_process(Napi::Env env, Napi::Object exports);

}  // namespace grpo

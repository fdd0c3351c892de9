// The addon that Node.js sees. It depends on nothing but Node-API and libdl, so it always loads, and can then say in words
// why libtorch or the core do not.
//
//   load(libraries: string[], core: string) -> the core's exports
//
// Every library is opened by its full path, dependencies first, so that no search path and no RUNPATH decides what is used:
// what a later library names as NEEDED is met by the one that is already open.

#include <dlfcn.h>
#include <node_api.h>
#include <stdlib.h>

#include <string>
#include <vector>

namespace {

using CoreInit = napi_value (*)(napi_env, napi_value);

napi_value throw_error(napi_env env, const char* code, const std::string& message) {
  napi_throw_error(env, code, message.c_str());
  return nullptr;
}

bool read_string(napi_env env, napi_value value, std::string& out) {
  size_t bytes = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &bytes) != napi_ok) return false;
  out.resize(bytes + 1);
  if (napi_get_value_string_utf8(env, value, out.data(), out.size(), &bytes) != napi_ok) return false;
  out.resize(bytes);
  return true;
}

bool read_strings(napi_env env, napi_value array, std::vector<std::string>& out) {
  uint32_t length = 0;
  if (napi_get_array_length(env, array, &length) != napi_ok) return false;
  for (uint32_t i = 0; i < length; ++i) {
    napi_value entry;
    out.emplace_back();
    if (napi_get_element(env, array, i, &entry) != napi_ok || !read_string(env, entry, out.back())) return false;
  }
  return true;
}

std::string last_dl_error() {
  const char* text = dlerror();
  return text ? text : "unknown error of the dynamic linker";
}

napi_value load(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value args[2];
  napi_get_cb_info(env, info, &count, args, nullptr, nullptr);
  std::vector<std::string> libraries;
  std::string core_path;
  if (count < 2 || !read_strings(env, args[0], libraries) || !read_string(env, args[1], core_path)) {
    return throw_error(env, "INVALID_ARGUMENT", "[load] expected (libraries: string[], core: string)");
  }

  // GNU OpenMP reads this once, when it is loaded: its threads otherwise spin between two products and starve the tools
  // that run beside training. A value the user has set stays.
  setenv("OMP_WAIT_POLICY", "passive", 0);

  for (const std::string& library : libraries) {
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return throw_error(env, "LIBTORCH_MISSING", "[load] " + library + " does not load: " + last_dl_error());
    }
  }
  void* core = dlopen(core_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!core) return throw_error(env, "NATIVE_MISSING", "[load] " + core_path + " does not load: " + last_dl_error());
  auto init = reinterpret_cast<CoreInit>(dlsym(core, "grpo_core_init"));
  if (!init) return throw_error(env, "NATIVE_MISSING", "[load] " + core_path + " has no grpo_core_init: " + last_dl_error());

  napi_value exports;
  if (napi_create_object(env, &exports) != napi_ok) return nullptr;
  return init(env, exports);
}

}  // namespace

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "load", NAPI_AUTO_LENGTH, load, nullptr, &function) != napi_ok) return nullptr;
  if (napi_set_named_property(env, exports, "load", function) != napi_ok) return nullptr;
  return exports;
}

// A process of its own around the thread registry, without Node.js: argv[1] names the way out. The one Node-API function
// that the registry wants is played here.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <chrono>
#include <memory>
#include <thread>

#include "binding/threads.h"

namespace {

void (*environment_hook)(void*) = nullptr;
void* environment_argument = nullptr;
int hooks = 0;

struct Static {
  ~Static() { puts("statics destroyed"); }
};

using namespace std::chrono_literals;

std::unique_ptr<grpo::RegisteredThread> obedient(napi_env env) {
  return std::make_unique<grpo::RegisteredThread>(
      env,
      [](const std::atomic<bool>& stopping) {
        while (!stopping) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(100ms);
        puts("thread back");
      },
      [] {});
}

std::unique_ptr<grpo::RegisteredThread> deaf(napi_env env) {
  return std::make_unique<grpo::RegisteredThread>(
      env, [](const std::atomic<bool>&) { std::this_thread::sleep_for(60s); }, [] {});
}

}  // namespace

extern "C" napi_status napi_add_env_cleanup_hook(napi_env, void (*hook)(void*), void* argument) {
  environment_hook = hook;
  environment_argument = argument;
  ++hooks;
  return napi_ok;
}

int main(int, char** argv) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  static Static something;
  napi_env first = reinterpret_cast<napi_env>(0x10);
  napi_env second = reinterpret_cast<napi_env>(0x20);
  auto& registry = grpo::ThreadRegistry::instance();
  const char* mode = argv[1];
  if (!strcmp(mode, "exit")) {
    obedient(first).release();
    exit(7);
  }
  if (!strcmp(mode, "deaf")) {
    deaf(first).release();
    obedient(first).release();
    exit(7);
  }
  if (!strcmp(mode, "environment")) {
    obedient(first).release();
    deaf(second).release();
    printf("hooks %d\n", hooks);
    grpo::ThreadRegistry::instance().stop(first, 2000ms);
    printf("left %d\n", registry.count());
    // The second environment ends and waits in vain; the exit after it does not wait again.
    environment_hook(environment_argument);
    puts("environment gone");
    exit(9);
  }
  if (!strcmp(mode, "destroy")) {
    { auto thread = obedient(first); }
    printf("left %d\n", registry.count());
    return 0;
  }
  return 1;
}

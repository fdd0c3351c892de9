// Threads that must be gone before the process or a worker leaves. Knows nothing of tensors.
//
// Environment cleanup hooks do not run on process.exit() or after an uncaught exception, so there are two ways in: the
// environment's own hook (natural end, a worker's end) and on_exit (everything that ends in exit()). Both ask first and
// join then. A thread that is not back within kLeaveTimeout does not hold the process up: _exit with the same exit code.
#pragma once

#include <node_api.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace grpo {

// How long leaving waits for all threads together.
inline constexpr std::chrono::milliseconds kLeaveTimeout{2000};

// Process-wide, safe from any thread.
class ThreadRegistry {
 public:
  static ThreadRegistry& instance();

  // Call from the thread of `env`, once libtorch is loaded: exit handlers run newest first, so the one registered here
  // runs before libtorch's own objects are destroyed.
  //   request_stop  sets flags and wakes the thread; returns at once; called from any thread, more than once
  //   join          waits at most the time given, true once the thread is back; called from any thread, more than once
  // Neither may call Node-API. returns an id for remove().
  int add(napi_env env, std::function<void()> request_stop, std::function<bool(std::chrono::milliseconds)> join);

  // Forgets a thread that is back. Unknown ids are ignored.
  void remove(int id);

  // Threads registered now.
  int count();

  // Asks the threads of one environment, or all of them for null, to stop and waits for them. returns false when one is
  // not back in time; a later call asks such a thread again but does not wait for it again.
  bool stop(napi_env env, std::chrono::milliseconds timeout);

 private:
  ThreadRegistry();
  static void on_environment_end(void* env);
  static void on_process_exit(int code, void*);
  struct State;
  State* state_;  // never freed: exit handlers and late threads may still look
};

// A std::thread that the registry knows. The body ends soon after `stopping` turned true, and throws nothing.
class RegisteredThread {
 public:
  // `wake` is called after the flag is set, to end the body's waits. Both may outlive this object by a little: capture
  // shared pointers, not `this` of something that dies before join.
  RegisteredThread(napi_env env, std::function<void(const std::atomic<bool>& stopping)> body, std::function<void()> wake);
  ~RegisteredThread();  // stops and joins, however long that takes
  RegisteredThread(const RegisteredThread&) = delete;
  RegisteredThread& operator=(const RegisteredThread&) = delete;

  const std::atomic<bool>& stopping() const;
  void request_stop();
  // True once the thread is back; joins it then.
  bool join(std::chrono::milliseconds timeout);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  int id_;
};

}  // namespace grpo

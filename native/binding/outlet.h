// The way back to JavaScript from a policy's thread.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace grpo {

// Runs functions on the environment's own thread. Node frees a thread-safe function during the environment's teardown
// although other threads may still hold it; the hook registered here runs before that (hooks run newest first) and shuts
// the outlet, after which posted functions are dropped.
class Outlet : public std::enable_shared_from_this<Outlet> {
 public:
  using Task = std::function<void(Napi::Env)>;

  static std::shared_ptr<Outlet> create(Napi::Env env);
  // From any thread. The task is destroyed on the environment's thread, or dropped when the environment has gone.
  void post(Task task);
  // From the environment's thread: while anything is pending, the process does not end by itself.
  void begin(Napi::Env env);
  void done(Napi::Env env);
  void shut();
  // Whether the environment is being torn down by the calling thread.
  bool is_ending_here();

 private:
  static void on_environment_end(void* self);
  std::mutex mutex_;
  Napi::ThreadSafeFunction function_;
  const std::thread::id thread_ = std::this_thread::get_id();
  bool open_ = true;
  int pending_ = 0;
};

// A promise that a policy's thread settles. Create and settle on the environment's thread.
class Pending {
 public:
  Pending(Napi::Env env, std::shared_ptr<Outlet> outlet);
  Napi::Promise promise() const { return deferred_.Promise(); }
  // From any thread, once: the result is made on the environment's thread.
  void resolve(std::function<Napi::Value(Napi::Env)> make);
  void reject(std::exception_ptr error);

 private:
  Napi::Promise::Deferred deferred_;
  std::shared_ptr<Outlet> outlet_;
};

using PendingPtr = std::shared_ptr<Pending>;

}  // namespace grpo

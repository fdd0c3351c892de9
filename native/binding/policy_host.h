// One policy: its model, its engine and the one thread that owns both.
#pragma once

#include <napi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "binding/outlet.h"
#include "binding/threads.h"
#include "engine/engine.h"
#include "training/model.h"

namespace grpo {

// Jobs run in the order they were posted, between two steps of the engine: generation and updates never interleave.
class PolicyHost : public std::enable_shared_from_this<PolicyHost> {
 public:
  // What a job sees. It may throw: the exception goes to its promise.
  struct Core {
    Model model;
    Engine engine;
    Core(PolicyConfig config, const std::function<void(int64_t, int64_t)>& progress)
        : model(std::move(config), progress), engine(model) {}
  };
  using Job = std::function<void(Core&)>;
  using Load = std::function<std::unique_ptr<Core>()>;

  // Starts the thread, which loads the model first and settles `pending` with make(env) then.
  static std::shared_ptr<PolicyHost> start(Napi::Env env, Load load, PendingPtr pending,
                                           std::function<Napi::Value(Napi::Env, std::shared_ptr<PolicyHost>)> make);

  const std::shared_ptr<Outlet>& outlet() const { return outlet_; }
  // Queues a job; on_dropped is called instead when the policy has been closed.
  void post(Job job, std::function<void()> on_dropped);
  // Queues a job whose result settles a promise; one that a closed policy drops is rejected as CLOSED unless on_dropped
  // settles it otherwise.
  Napi::Promise call(Napi::Env env, std::function<void(Core&, const PendingPtr&)> job,
                     std::function<void(const PendingPtr&)> on_dropped = nullptr);
  // Stops the thread after ending all requests; resolves when it is back and the memory is freed.
  Napi::Promise close(Napi::Env env);
  // Cancels what runs now when the process leaves.
  Cancel& leaving() { return state_->leaving; }
  // What JavaScript reads between calls; noted before the promise of the call that changed it settles.
  void note_version(int64_t version) { state_->version = version; }
  int64_t version() const { return state_->version; }
  int64_t weight_bytes() const { return state_->weight_bytes; }

 private:
  struct Entry {
    Job job;
    std::function<void()> on_dropped;
  };
  // Outlives the host: the thread and exit handlers hold it.
  struct State {
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Entry> jobs;
    bool closed = false;
    Cancel leaving;
    std::atomic<int64_t> version{0};
    std::atomic<int64_t> weight_bytes{0};
    std::function<void()> on_closed;
  };
  using Loaded = std::function<void(std::exception_ptr)>;
  static void run(State& state, const std::atomic<bool>& stopping, const Load& load, Loaded& loaded);
  static void drop_jobs(State& state);

  std::shared_ptr<Outlet> outlet_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::unique_ptr<RegisteredThread> thread_;
};

// Thrown, or given to promises, when a policy has been closed.
std::exception_ptr closed_error(const char* operation);

}  // namespace grpo

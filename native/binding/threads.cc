#include "binding/threads.h"

#include <stdlib.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace grpo {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Entry {
  napi_env env;
  std::function<void()> request_stop;
  std::function<bool(milliseconds)> join;
  bool waited_in_vain = false;
};

milliseconds time_left(Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
  return left > milliseconds::zero() ? left : milliseconds::zero();
}

}  // namespace

struct ThreadRegistry::State {
  std::mutex mutex;
  std::map<int, std::shared_ptr<Entry>> entries;
  std::set<napi_env> environments;
  int next_id = 1;
};

ThreadRegistry& ThreadRegistry::instance() {
  static ThreadRegistry* registry = new ThreadRegistry();
  return *registry;
}

ThreadRegistry::ThreadRegistry() : state_(new State()) {}

int ThreadRegistry::add(napi_env env, std::function<void()> request_stop, std::function<bool(milliseconds)> join) {
  auto entry = std::make_shared<Entry>(Entry{env, std::move(request_stop), std::move(join)});
  bool new_environment;
  int id;
  {
    std::lock_guard lock(state_->mutex);
    id = state_->next_id++;
    state_->entries.emplace(id, std::move(entry));
    new_environment = state_->environments.insert(env).second;
  }
  if (new_environment) napi_add_env_cleanup_hook(env, on_environment_end, env);
  // Again for every thread: objects that libtorch has made lazily since the last one must outlive this one as well.
  on_exit(on_process_exit, nullptr);
  return id;
}

void ThreadRegistry::remove(int id) {
  std::lock_guard lock(state_->mutex);
  state_->entries.erase(id);
}

int ThreadRegistry::count() {
  std::lock_guard lock(state_->mutex);
  return static_cast<int>(state_->entries.size());
}

bool ThreadRegistry::stop(napi_env env, milliseconds timeout) {
  std::vector<std::pair<int, std::shared_ptr<Entry>>> found;
  {
    std::lock_guard lock(state_->mutex);
    for (auto& [id, entry] : state_->entries) {
      if (!env || entry->env == env) found.emplace_back(id, entry);
    }
  }
  // Outside the lock: a thread on its way out may call remove().
  for (auto& [id, entry] : found) entry->request_stop();
  Clock::time_point deadline = Clock::now() + timeout;
  bool all_back = true;
  for (auto& [id, entry] : found) {
    bool back = entry->join(entry->waited_in_vain ? milliseconds::zero() : time_left(deadline));
    std::lock_guard lock(state_->mutex);
    entry->waited_in_vain = !back;
    if (back) state_->entries.erase(id);
    all_back = all_back && back;
  }
  return all_back;
}

void ThreadRegistry::on_environment_end(void* raw_env) {
  ThreadRegistry& registry = instance();
  napi_env env = static_cast<napi_env>(raw_env);
  registry.stop(env, kLeaveTimeout);
  std::lock_guard lock(registry.state_->mutex);
  registry.state_->environments.erase(env);
  // The address may come back as another environment.
  for (auto& [id, entry] : registry.state_->entries) {
    if (entry->env == env) entry->env = nullptr;
  }
}

void ThreadRegistry::on_process_exit(int code, void*) {
  // Static objects are destroyed next; a thread that still works would crash on them and lose the exit code.
  if (!instance().stop(nullptr, kLeaveTimeout)) _exit(code);
}

struct RegisteredThread::Shared {
  std::atomic<bool> stopping{false};
  std::function<void()> wake;
  std::mutex mutex;
  std::condition_variable returned;
  bool back = false;
  std::thread thread;

  void request_stop() {
    stopping.store(true);
    wake();
  }

  bool join(milliseconds timeout) {
    std::unique_lock lock(mutex);
    if (!returned.wait_for(lock, timeout, [this] { return back; })) return false;
    if (thread.joinable()) thread.join();
    return true;
  }
};

RegisteredThread::RegisteredThread(napi_env env, std::function<void(const std::atomic<bool>&)> body,
                                   std::function<void()> wake)
    : shared_(std::make_shared<Shared>()) {
  shared_->wake = std::move(wake);
  {
    // join() must not see a handle that is not stored yet.
    std::lock_guard lock(shared_->mutex);
    // A plain pointer is enough: the registry holds the object until the thread is joined.
    shared_->thread = std::thread([shared = shared_.get(), body = std::move(body)]() mutable {
      body(shared->stopping);
      body = nullptr;
      std::lock_guard lock(shared->mutex);
      shared->back = true;
      shared->returned.notify_all();
    });
  }
  id_ = ThreadRegistry::instance().add(
      env, [shared = shared_] { shared->request_stop(); },
      [shared = shared_](milliseconds timeout) { return shared->join(timeout); });
}

RegisteredThread::~RegisteredThread() {
  request_stop();
  while (!join(std::chrono::hours(1))) {
  }
  ThreadRegistry::instance().remove(id_);
}

const std::atomic<bool>& RegisteredThread::stopping() const { return shared_->stopping; }

void RegisteredThread::request_stop() { shared_->request_stop(); }

bool RegisteredThread::join(milliseconds timeout) { return shared_->join(timeout); }

}  // namespace grpo

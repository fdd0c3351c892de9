#include "binding/policy_host.h"

#include "error.h"

namespace grpo {

std::exception_ptr closed_error(const char* operation) {
  return std::make_exception_ptr(Error("CLOSED", operation, "the policy has been closed; load it again"));
}

std::shared_ptr<PolicyHost> PolicyHost::start(Napi::Env env, Load load, PendingPtr pending,
                                              std::function<Napi::Value(Napi::Env, std::shared_ptr<PolicyHost>)> make) {
  // The last reference may go on the host's own thread, which cannot join itself: the environment's thread frees the host.
  const std::shared_ptr<PolicyHost> host(new PolicyHost, [](PolicyHost* last) {
    const std::shared_ptr<Outlet> outlet = last->outlet_;
    // Finalizers at the environment's end find nobody to post to; by then its threads are back, or are given up.
    if (outlet->is_ending_here() && (!last->thread_ || last->thread_->join(std::chrono::milliseconds(0)))) {
      delete last;
    } else {
      outlet->post([last](Napi::Env) { delete last; });
    }
  });
  host->outlet_ = Outlet::create(env);
  const auto state = host->state_;
  auto loaded = std::make_shared<Loaded>([host, pending, make](std::exception_ptr error) {
    if (error) {
      pending->reject(error);
    } else {
      pending->resolve([host, make](Napi::Env e) { return make(e, host); });
    }
  });
  const auto body = [state, load = std::move(load), loaded](const std::atomic<bool>& stopping) {
    run(*state, stopping, load, *loaded);
  };
  const auto wake = [state] {
    state->leaving.cancel();
    const std::lock_guard<std::mutex> lock(state->mutex);
    state->wake.notify_all();
  };
  host->thread_ = std::make_unique<RegisteredThread>(env, body, wake);
  return host;
}

void PolicyHost::drop_jobs(State& state) {
  std::deque<Entry> dropped;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.closed = true;
    dropped.swap(state.jobs);
  }
  for (const Entry& entry : dropped) entry.on_dropped();
}

void PolicyHost::run(State& state, const std::atomic<bool>& stopping, const Load& load, Loaded& loaded) {
  std::unique_ptr<Core> core;
  try {
    core = load();
    state.weight_bytes = core->model.weight_bytes();
    state.version = core->model.version();
    loaded(nullptr);
    loaded = nullptr;  // it holds the host: kept, a policy that JavaScript forgot would never end
  } catch (...) {
    loaded(std::current_exception());
    loaded = nullptr;
    drop_jobs(state);
    return;
  }
  while (!stopping) {
    std::deque<Entry> jobs;
    {
      std::unique_lock<std::mutex> lock(state.mutex);
      state.wake.wait(lock, [&] { return stopping || state.closed || !state.jobs.empty() || core->engine.has_work(); });
      if (state.closed) break;
      jobs.swap(state.jobs);
    }
    for (const Entry& entry : jobs) {
      if (stopping) {
        entry.on_dropped();
        continue;
      }
      entry.job(*core);
    }
    if (core->engine.has_work()) core->engine.step(state.leaving);
  }
  core->engine.abort_all();
  drop_jobs(state);
  core.reset();
  if (state.on_closed) state.on_closed();
}

void PolicyHost::post(Job job, std::function<void()> on_dropped) {
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->closed) {
      state_->jobs.push_back({std::move(job), std::move(on_dropped)});
      state_->wake.notify_all();
      return;
    }
  }
  on_dropped();
}

Napi::Promise PolicyHost::call(Napi::Env env, std::function<void(Core&, const PendingPtr&)> job,
                               std::function<void(const PendingPtr&)> on_dropped) {
  auto pending = std::make_shared<Pending>(env, outlet_);
  post(
      [pending, job = std::move(job)](Core& core) {
        try {
          job(core, pending);
        } catch (...) {
          pending->reject(std::current_exception());
        }
      },
      [pending, on_dropped = std::move(on_dropped)] {
        if (on_dropped) {
          on_dropped(pending);
        } else {
          pending->reject(closed_error("policy"));
        }
      });
  return pending->promise();
}

Napi::Promise PolicyHost::close(Napi::Env env) {
  auto pending = std::make_shared<Pending>(env, outlet_);
  const auto done = [pending] { pending->resolve([](Napi::Env e) { return e.Undefined(); }); };
  {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->closed) {
      state_->on_closed = done;
      state_->closed = true;
      state_->leaving.cancel();
      state_->wake.notify_all();
      return pending->promise();
    }
  }
  done();
  return pending->promise();
}

}  // namespace grpo

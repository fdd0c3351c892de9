#include "binding/outlet.h"

#include "binding/convert.h"

namespace grpo {

std::shared_ptr<Outlet> Outlet::create(Napi::Env env) {
  auto outlet = std::make_shared<Outlet>();
  const Napi::Function nothing = Napi::Function::New(env, [](const Napi::CallbackInfo&) {});
  outlet->function_ = Napi::ThreadSafeFunction::New(env, nothing, "grpo-native", 0, 1);
  outlet->function_.Unref(env);
  // The hook keeps its own reference, freed when the outlet is shut.
  napi_add_env_cleanup_hook(env, on_environment_end, new std::shared_ptr<Outlet>(outlet));
  return outlet;
}

void Outlet::on_environment_end(void* self) {
  auto* outlet = static_cast<std::shared_ptr<Outlet>*>(self);
  (*outlet)->shut();
  delete outlet;
}

void Outlet::post(Task task) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto* held = new Task(std::move(task));
  if (!open_) return;  // its JavaScript references may not be freed from this thread: leak them with the environment
  const napi_status status = function_.NonBlockingCall(held, [](Napi::Env env, Napi::Function, Task* ready) {
    if (env != nullptr) (*ready)(env);
    delete ready;
  });
  if (status != napi_ok) open_ = false;
}

void Outlet::begin(Napi::Env env) {
  if (pending_++ == 0) function_.Ref(env);
}

void Outlet::done(Napi::Env env) {
  if (--pending_ == 0 && open_) function_.Unref(env);
}

void Outlet::shut() {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_ = false;
}

bool Outlet::is_ending_here() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !open_ && std::this_thread::get_id() == thread_;
}

Pending::Pending(Napi::Env env, std::shared_ptr<Outlet> outlet)
    : deferred_(Napi::Promise::Deferred::New(env)), outlet_(std::move(outlet)) {
  outlet_->begin(env);
}

void Pending::resolve(std::function<Napi::Value(Napi::Env)> make) {
  outlet_->post([deferred = deferred_, outlet = outlet_, make = std::move(make)](Napi::Env env) {
    const Napi::HandleScope scope(env);
    try {
      deferred.Resolve(make(env));
    } catch (...) {
      deferred.Reject(make_error(env, std::current_exception()));
    }
    outlet->done(env);
  });
}

void Pending::reject(std::exception_ptr error) {
  outlet_->post([deferred = deferred_, outlet = outlet_, error = std::move(error)](Napi::Env env) {
    const Napi::HandleScope scope(env);
    deferred.Reject(make_error(env, error));
    outlet->done(env);
  });
}

}  // namespace grpo

#include "binding/convert.h"
#include "binding/objects.h"

namespace grpo {

void CancelObject::define(Napi::Env env, AddonData& data) {
  data.cancel = Napi::Persistent(DefineClass(env, "Cancel", {InstanceMethod<&CancelObject::cancel>("cancel")}));
}

Napi::Value CancelObject::create(const Napi::CallbackInfo& info) {
  return info.Env().GetInstanceData<AddonData>()->cancel.New({});
}

CancelPtr CancelObject::read(const Napi::Value& value) { return Unwrap(value.As<Napi::Object>())->cancel_; }

void CancelObject::cancel(const Napi::CallbackInfo&) { cancel_->cancel(); }

void SessionObject::define(Napi::Env env, AddonData& data) {
  data.session = Napi::Persistent(DefineClass(env, "Session",
                                              {InstanceMethod<&SessionObject::generate>("generate"),
                                               InstanceMethod<&SessionObject::append>("append"),
                                               InstanceMethod<&SessionObject::fork>("fork"),
                                               InstanceMethod<&SessionObject::close>("close")}));
}

Napi::Object SessionObject::make(Napi::Env env, std::shared_ptr<PolicyHost> host, std::shared_ptr<Sequence> sequence) {
  const Napi::Object object = env.GetInstanceData<AddonData>()->session.New({});
  SessionObject* session = Unwrap(object);
  session->host_ = std::move(host);
  session->sequence_ = std::move(sequence);
  return object;
}

SessionObject::~SessionObject() { release(); }

// The sequence's pages go back on the policy's own thread; where that has gone, nobody else touches them.
void SessionObject::release() {
  if (!sequence_) return;
  host_->post([sequence = sequence_](PolicyHost::Core& core) { core.engine.close(*sequence); }, [] {});
  sequence_.reset();
}

Napi::Value SessionObject::generate(const Napi::CallbackInfo& info) {
  const GenerateOptions options = read_generate(info[0].As<Napi::Object>());
  const CancelPtr cancel = CancelObject::read(info[1]);
  const auto settle = [](const PendingPtr& pending, TurnResult turn) {
    pending->resolve([turn = std::move(turn)](Napi::Env env) -> Napi::Value { return make_turn(env, turn); });
  };
  const auto job = [=, sequence = sequence_](PolicyHost::Core& core, const PendingPtr& pending) {
    core.engine.generate(
        sequence, options, cancel, [=](TurnResult turn) { settle(pending, std::move(turn)); },
        [pending](std::exception_ptr error) { pending->reject(std::move(error)); });
  };
  return host_->call(info.Env(), job, [=, host = host_](const PendingPtr& pending) {
    TurnResult none;
    none.finish = Finish::kAborted;
    none.version = host->version();
    settle(pending, std::move(none));
  });
}

Napi::Value SessionObject::append(const Napi::CallbackInfo& info) {
  return host_->call(info.Env(), [sequence = sequence_, ids = read_ids(info[0])](PolicyHost::Core& core, const PendingPtr& pending) {
    core.engine.append(*sequence, ids);
    pending->resolve([](Napi::Env env) { return env.Undefined(); });
  });
}

Napi::Value SessionObject::fork(const Napi::CallbackInfo& info) {
  return host_->call(info.Env(), [host = host_, sequence = sequence_](PolicyHost::Core& core, const PendingPtr& pending) {
    std::shared_ptr<Sequence> twin = core.engine.fork(*sequence, host->leaving());
    pending->resolve([host, twin](Napi::Env env) -> Napi::Value { return make(env, host, twin); });
  });
}

void SessionObject::close(const Napi::CallbackInfo&) { release(); }

}  // namespace grpo

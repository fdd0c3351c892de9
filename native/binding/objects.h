// The JavaScript objects of the core: policy, session, cancel.
#pragma once

#include <napi.h>

#include <memory>

#include "binding/policy_host.h"

namespace grpo {

// Constructors of one environment.
struct AddonData {
  Napi::FunctionReference policy, session, cancel;
};

class CancelObject : public Napi::ObjectWrap<CancelObject> {
 public:
  static void define(Napi::Env env, AddonData& data);
  static Napi::Value create(const Napi::CallbackInfo& info);
  static CancelPtr read(const Napi::Value& value);
  explicit CancelObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  void cancel(const Napi::CallbackInfo& info);
  CancelPtr cancel_ = std::make_shared<Cancel>();
};

class SessionObject : public Napi::ObjectWrap<SessionObject> {
 public:
  static void define(Napi::Env env, AddonData& data);
  static Napi::Object make(Napi::Env env, std::shared_ptr<PolicyHost> host, std::shared_ptr<Sequence> sequence);
  explicit SessionObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}
  ~SessionObject() override;

 private:
  Napi::Value generate(const Napi::CallbackInfo& info);
  Napi::Value append(const Napi::CallbackInfo& info);
  Napi::Value fork(const Napi::CallbackInfo& info);
  void close(const Napi::CallbackInfo& info);
  void release();
  std::shared_ptr<PolicyHost> host_;
  std::shared_ptr<Sequence> sequence_;
};

class PolicyObject : public Napi::ObjectWrap<PolicyObject> {
 public:
  static void define(Napi::Env env, AddonData& data);
  static Napi::Object make(Napi::Env env, std::shared_ptr<PolicyHost> host);
  explicit PolicyObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {}

 private:
  Napi::Value open(const Napi::CallbackInfo& info);
  Napi::Value logprobs(const Napi::CallbackInfo& info);
  Napi::Value update(const Napi::CallbackInfo& info);
  Napi::Value trainable(const Napi::CallbackInfo& info);
  Napi::Value training_state(const Napi::CallbackInfo& info);
  Napi::Value read_trained(const Napi::CallbackInfo& info);
  Napi::Value merged(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);
  Napi::Value version(const Napi::CallbackInfo& info);
  Napi::Value weight_bytes(const Napi::CallbackInfo& info);
  std::shared_ptr<PolicyHost> host_;
};

}  // namespace grpo

#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "cancel.h"
#include "engine/kv_cache.h"
#include "engine/sampling.h"
#include "training/model.h"

namespace grpo {

enum class Finish { kStop, kLength, kContext, kAborted };

struct GenerateOptions {
  int64_t max_new_tokens = 0;
  SamplingOptions sampling;
  std::vector<std::string> stop;
  std::vector<int64_t> stop_ids;
  uint64_t seed = 0;
};

struct TurnResult {
  std::vector<int32_t> ids;
  std::vector<float> logprobs;
  Finish finish = Finish::kLength;
  int64_t version = 0;
  double truncated_mass = 0;  // mean over the tokens
};

// A token sequence with its cache. Its ids are all tokens so far; the cache lags behind by at least the last one.
struct Sequence {
  explicit Sequence(std::shared_ptr<PagePool> pool) : cache(std::move(pool)) {}
  std::vector<int64_t> ids;
  KvCache cache;
  bool busy = false;    // a generate request is in flight
  bool closed = false;
};

// Continuous batching: every sequence that wants tokens takes part in the next forward pass, prompts in pieces beside
// the single tokens of others. Belongs to the policy's thread.
class Engine {
 public:
  explicit Engine(Model& model);

  using OnTurn = std::function<void(TurnResult)>;
  using OnError = std::function<void(std::exception_ptr)>;

  std::shared_ptr<Sequence> open(std::vector<int64_t> ids);
  // Computes the parent's cache first, so that copies share it.
  std::shared_ptr<Sequence> fork(Sequence& sequence, const Cancel& cancel);
  void append(Sequence& sequence, const std::vector<int64_t>& ids);
  void close(Sequence& sequence);
  void generate(std::shared_ptr<Sequence> sequence, GenerateOptions options, CancelPtr cancel, OnTurn on_turn, OnError on_error);

  bool has_work() const { return !requests_.empty(); }
  // One forward pass over everything that wants tokens. Never throws: failures go to the requests.
  void step(const Cancel& leaving);
  // Ends every request (a policy that closes).
  void abort_all();

 private:
  struct Request {
    std::shared_ptr<Sequence> sequence;
    GenerateOptions options;
    CancelPtr cancel;
    OnTurn on_turn;
    OnError on_error;
    StopMatcher matcher;
    TurnResult turn;
  };
  struct Piece {
    Sequence* sequence;
    int64_t count;     // tokens to feed
    Request* request;  // null, or the request that samples after the last of them
  };

  void check_ids(const std::vector<int64_t>& ids, const char* operation) const;
  at::Tensor feed(const std::vector<Piece>& pieces, const Cancel& cancel);
  Attend attend_pages(const std::vector<Piece>& pieces);
  void take_samples(const std::vector<Piece>& pieces, const at::Tensor& hidden);
  // True when the request has ended with this token.
  bool accept(Request& request, const Sample& drawn);
  void finish(Request& request, Finish finish);

  Model& model_;
  std::shared_ptr<PagePool> pool_;
  std::list<Request> requests_;
};

}  // namespace grpo

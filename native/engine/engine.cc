#include "engine/engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "error.h"
#include "kernels/cpu/paged_attention.h"
#include "kernels/philox.h"

namespace grpo {
namespace {

// Tokens of one pass: enough to keep the matrix units busy, little enough that waiting decoders feel it briefly.
constexpr int64_t kPassTokens = 512;
// From this many queries on, one dense attention call beats a walk over the pages for each query.
constexpr int64_t kDenseQueries = 32;

std::string text_of(int64_t value) { return std::to_string(value); }

// Copies keys and values of tokens first .. first + count - 1 of one layer into a sequence's pages.
//   k, v (N, K, D) contiguous, rows row .. row + count - 1
void write_pages(const KvCache& cache, const PagePool& pool, int64_t layer, int64_t first, int64_t count, int64_t row,
                 const at::Tensor& k, const at::Tensor& v) {
  const int64_t heads = k.size(1), dim = k.size(2), item = pool.item_bytes();
  const char* keys = static_cast<const char*>(k.data_ptr());
  const char* values = static_cast<const char*>(v.data_ptr());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t position = first + i;
    char* base = cache.page(position / kPageTokens) + pool.layer_offset(layer) * item;
    for (int64_t h = 0; h < heads; ++h) {
      char* to = base + (h * kPageTokens + position % kPageTokens) * dim * item;
      const int64_t from = ((row + i) * heads + h) * dim * item;
      std::memcpy(to, keys + from, static_cast<size_t>(dim * item));
      std::memcpy(to + pool.value_offset() * item, values + from, static_cast<size_t>(dim * item));
    }
  }
}

// Keys (or values) of tokens 0 .. length - 1 of one layer as one tensor (K, length, D).
at::Tensor gather_pages(const KvCache& cache, const PagePool& pool, int64_t layer, int64_t length, bool values,
                        const at::Tensor& like) {
  const int64_t heads = like.size(1), dim = like.size(2), item = pool.item_bytes();
  at::Tensor out = at::empty({heads, length, dim}, like.options());
  char* to = static_cast<char*>(out.data_ptr());
  for (int64_t t = 0; t < length; t += kPageTokens) {
    const int64_t count = std::min(kPageTokens, length - t);
    const char* base = cache.page(t / kPageTokens) + (pool.layer_offset(layer) + (values ? pool.value_offset() : 0)) * item;
    for (int64_t h = 0; h < heads; ++h) {
      std::memcpy(to + (h * length + t) * dim * item, base + h * kPageTokens * dim * item, static_cast<size_t>(count * dim * item));
    }
  }
  return out;
}

// Queries of the last `count` of `length` positions, each seeing all positions up to itself.
at::Tensor dense_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const int64_t heads = q.size(1), count = q.size(0), length = k.size(1);
  const at::Tensor queries = q.transpose(0, 1).unsqueeze(0);
  const at::Tensor keys = repeat_heads(k, heads).unsqueeze(0), values = repeat_heads(v, heads).unsqueeze(0);
  at::Tensor out;
  if (count == length) {
    out = at::scaled_dot_product_attention(queries, keys, values, {}, 0.0, /*is_causal=*/true);
  } else {
    const at::Tensor to = at::arange(length - count, length).unsqueeze(1);
    const at::Tensor visible = at::arange(length).unsqueeze(0).le(to);
    out = at::scaled_dot_product_attention(queries, keys, values, visible);
  }
  return out.squeeze(0).transpose(0, 1).reshape({count, heads * q.size(2)});
}

}  // namespace

Engine::Engine(Model& model) : model_(model), pool_(std::make_shared<PagePool>(model.config())) {}

void Engine::check_ids(const std::vector<int64_t>& ids, const char* operation) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && ids[i] < model_.config().vocab_size) continue;
    throw Error("INVALID_ARGUMENT", operation,
                "ids[" + std::to_string(i) + "] is " + text_of(ids[i]) + ", outside the vocabulary of " +
                    text_of(model_.config().vocab_size));
  }
}

std::shared_ptr<Sequence> Engine::open(std::vector<int64_t> ids) {
  check_ids(ids, "open");
  const int64_t length = static_cast<int64_t>(ids.size());
  if (length == 0) throw Error("INVALID_ARGUMENT", "open", "the prompt must have at least 1 token, but has 0");
  if (length >= model_.config().max_context) {
    throw Error("CONTEXT_EXCEEDED", "open",
                "the prompt has " + text_of(length) + " tokens, which leaves no room in the context of " +
                    text_of(model_.config().max_context) + "; shorten it or raise maxContext");
  }
  auto sequence = std::make_shared<Sequence>(pool_);
  sequence->ids = std::move(ids);
  return sequence;
}

std::shared_ptr<Sequence> Engine::fork(Sequence& sequence, const Cancel& cancel) {
  sequence.cache.require_version(model_.version());
  const int64_t wanted = static_cast<int64_t>(sequence.ids.size()) - 1;
  while (sequence.cache.length() < wanted) {
    feed({{&sequence, std::min(kPassTokens, wanted - sequence.cache.length()), nullptr}}, cancel);
  }
  auto twin = std::make_shared<Sequence>(pool_);
  twin->ids = sequence.ids;
  twin->cache = sequence.cache.fork();
  return twin;
}

void Engine::append(Sequence& sequence, const std::vector<int64_t>& ids) {
  check_ids(ids, "append");
  const int64_t length = static_cast<int64_t>(sequence.ids.size() + ids.size());
  if (length > model_.config().max_context) {
    throw Error("CONTEXT_EXCEEDED", "append",
                "the session would have " + text_of(length) + " tokens, more than the context of " +
                    text_of(model_.config().max_context) + "; append less or raise maxContext");
  }
  sequence.ids.insert(sequence.ids.end(), ids.begin(), ids.end());
}

void Engine::close(Sequence& sequence) {
  sequence.closed = true;
  if (sequence.busy) return;  // its request ends at the next step and lets go of the pages
  sequence.cache.clear();
  if (requests_.empty()) pool_->trim();
}

void Engine::generate(std::shared_ptr<Sequence> sequence, GenerateOptions options, CancelPtr cancel, OnTurn on_turn,
                      OnError on_error) {
  sequence->busy = true;
  StopMatcher matcher(options.stop);
  Request request{std::move(sequence), std::move(options), std::move(cancel), std::move(on_turn), std::move(on_error),
                  std::move(matcher),  {}};
  request.turn.version = model_.version();
  requests_.push_back(std::move(request));
}

void Engine::finish(Request& request, Finish finish) {
  request.sequence->busy = false;
  if (request.sequence->closed) request.sequence->cache.clear();
  request.turn.finish = finish;
  request.turn.version = model_.version();
  if (!request.turn.ids.empty()) request.turn.truncated_mass /= static_cast<double>(request.turn.ids.size());
  request.on_turn(std::move(request.turn));
}

void Engine::abort_all() {
  for (Request& request : requests_) finish(request, Finish::kAborted);
  requests_.clear();
}

void Engine::step(const Cancel& leaving) {
  for (auto it = requests_.begin(); it != requests_.end();) {
    const bool full = static_cast<int64_t>(it->sequence->ids.size()) >= model_.config().max_context;
    if (it->cancel->cancelled() || it->sequence->closed) {
      finish(*it, Finish::kAborted);
    } else if (full) {
      finish(*it, Finish::kContext);
    } else {
      ++it;
      continue;
    }
    it = requests_.erase(it);
  }

  // Single tokens first: a long prompt never keeps decoders waiting for more than one pass.
  std::vector<Piece> pieces;
  int64_t budget = kPassTokens;
  const auto pending = [this](Request& request) {
    request.sequence->cache.require_version(model_.version());
    return static_cast<int64_t>(request.sequence->ids.size()) - request.sequence->cache.length();
  };
  for (Request& request : requests_) {
    if (pending(request) != 1) continue;
    pieces.push_back({request.sequence.get(), 1, &request});
    --budget;
  }
  for (Request& request : requests_) {
    const int64_t wanted = pending(request);
    if (wanted == 1 || budget <= 0) continue;
    const int64_t count = std::min(wanted, budget);
    pieces.push_back({request.sequence.get(), count, count == wanted ? &request : nullptr});
    budget -= count;
  }
  if (pieces.empty()) return;
  try {
    const at::Tensor hidden = feed(pieces, leaving);
    take_samples(pieces, hidden);
  } catch (...) {
    // Everyone in this pass fails alike; the policy and all other sessions stay usable.
    const std::exception_ptr error = std::current_exception();
    for (auto it = requests_.begin(); it != requests_.end();) {
      const bool in_pass = std::any_of(pieces.begin(), pieces.end(), [&](const Piece& p) { return p.sequence == it->sequence.get(); });
      if (!in_pass) {
        ++it;
        continue;
      }
      it->sequence->cache.clear();
      if (leaving.cancelled()) {
        finish(*it, Finish::kAborted);
      } else {
        it->sequence->busy = false;
        it->on_error(error);
      }
      it = requests_.erase(it);
    }
  }
}

// Feeds the next tokens of each piece; returns the last hidden state of each piece (pieces, C).
at::Tensor Engine::feed(const std::vector<Piece>& pieces, const Cancel& cancel) {
  const c10::NoGradGuard no_grad;
  std::vector<int64_t> ids, positions, last;
  for (const Piece& piece : pieces) {
    Sequence& sequence = *piece.sequence;
    const int64_t first = sequence.cache.length();
    sequence.cache.reserve(first + piece.count);
    for (int64_t i = 0; i < piece.count; ++i) {
      ids.push_back(sequence.ids[static_cast<size_t>(first + i)]);
      positions.push_back(first + i);
    }
    last.push_back(static_cast<int64_t>(ids.size()) - 1);
  }
  const at::Tensor hidden =
      model_.decoder().forward(model_.view(Which::kPolicy), to_tensor(ids), positions, attend_pages(pieces), cancel, "generate");
  for (const Piece& piece : pieces) piece.sequence->cache.set_length(piece.sequence->cache.length() + piece.count);
  return hidden.index_select(0, to_tensor(last));
}

Attend Engine::attend_pages(const std::vector<Piece>& pieces) {
  return [this, &pieces](int64_t layer, const at::Tensor& q_in, const at::Tensor& k_in, const at::Tensor& v_in) {
    const PolicyConfig& config = model_.config();
    const at::Tensor q = q_in.contiguous(), k = k_in.contiguous(), v = v_in.contiguous();
    at::Tensor out = at::empty({q.size(0), config.heads * config.head_dim}, q.options());
    std::vector<PagedQuery> queries;
    int64_t row = 0;
    for (const Piece& piece : pieces) {
      const KvCache& cache = piece.sequence->cache;
      const int64_t first = cache.length();
      write_pages(cache, *pool_, layer, first, piece.count, row, k, v);
      if (piece.count >= kDenseQueries && !config.strict) {
        const int64_t length = first + piece.count;
        out.narrow(0, row, piece.count)
            .copy_(dense_attention(q.narrow(0, row, piece.count), gather_pages(cache, *pool_, layer, length, false, k),
                                   gather_pages(cache, *pool_, layer, length, true, v)));
      } else {
        PagedQuery query;
        query.row = row;
        query.count = piece.count;
        query.first = first;
        for (int64_t p = 0; p * kPageTokens < first + piece.count; ++p) {
          query.pages.push_back(cache.page(p) + pool_->layer_offset(layer) * pool_->item_bytes());
        }
        queries.push_back(std::move(query));
      }
      row += piece.count;
    }
    if (queries.empty()) return out;
    const PagedShape shape{config.heads,  config.key_value_heads, config.head_dim,
                           kPageTokens,   pool_->value_offset(),   1 / std::sqrt(static_cast<float>(config.head_dim))};
    if (config.bfloat16) {
      paged_attention<uint16_t>(queries, shape, static_cast<const uint16_t*>(q.data_ptr()), static_cast<uint16_t*>(out.data_ptr()));
    } else {
      paged_attention<float>(queries, shape, q.data_ptr<float>(), out.data_ptr<float>());
    }
    return out;
  };
}

void Engine::take_samples(const std::vector<Piece>& pieces, const at::Tensor& hidden) {
  std::vector<int64_t> rows;
  std::vector<Request*> sampling;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].request == nullptr) continue;
    rows.push_back(static_cast<int64_t>(i));
    sampling.push_back(pieces[i].request);
  }
  if (rows.empty()) return;
  const c10::NoGradGuard no_grad;
  const at::Tensor logits = model_.head(Which::kPolicy, false).logits(hidden.index_select(0, to_tensor(rows))).contiguous();
  const int64_t vocabulary = logits.size(1);
  const float* data = logits.data_ptr<float>();
  std::vector<Sample> drawn(rows.size());
  at::parallel_for(0, static_cast<int64_t>(rows.size()), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch;
    for (int64_t i = begin; i < end; ++i) {
      const Request& request = *sampling[static_cast<size_t>(i)];
      // The counter is the token's position in its session: the same number whatever else is running.
      const double uniform = Philox(request.options.seed).uniform(request.sequence->ids.size());
      drawn[static_cast<size_t>(i)] = sample(data + i * vocabulary, vocabulary, request.options.sampling, uniform, scratch);
    }
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!accept(*sampling[i], drawn[i])) continue;
    requests_.remove_if([&](const Request& request) { return &request == sampling[i]; });
  }
}

bool Engine::accept(Request& request, const Sample& drawn) {
  if (!std::isfinite(drawn.logprob)) {
    request.sequence->busy = false;
    request.on_error(std::make_exception_ptr(
        Error("INTERNAL", "generate", "the model gave a log-probability that is not finite; check the weights and the adapter")));
    return true;
  }
  Sequence& sequence = *request.sequence;
  sequence.ids.push_back(drawn.id);
  request.turn.ids.push_back(static_cast<int32_t>(drawn.id));
  request.turn.logprobs.push_back(drawn.logprob);
  request.turn.truncated_mass += drawn.truncated_mass;

  const PolicyConfig& config = model_.config();
  bool stopped = std::count(request.options.stop_ids.begin(), request.options.stop_ids.end(), drawn.id) > 0;
  if (request.matcher.active()) {
    const size_t id = static_cast<size_t>(drawn.id);
    if (id + 1 < config.token_offsets.size()) {
      const uint32_t begin = config.token_offsets[id], end = config.token_offsets[id + 1];
      const char* bytes = reinterpret_cast<const char*>(config.token_bytes.data());
      stopped = request.matcher.push(bytes + begin, end - begin) || stopped;
    }
  }
  if (stopped) {
    finish(request, Finish::kStop);
  } else if (static_cast<int64_t>(request.turn.ids.size()) >= request.options.max_new_tokens) {
    finish(request, Finish::kLength);
  } else if (static_cast<int64_t>(sequence.ids.size()) >= config.max_context) {
    finish(request, Finish::kContext);
  } else {
    return false;
  }
  return true;
}

}  // namespace grpo

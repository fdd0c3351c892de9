#include "model/weights.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "error.h"
#include "model/memory.h"

namespace grpo {
namespace {

// A read-only mapping that lives as long as the last tensor that points into it.
class Mapping {
 public:
  explicit Mapping(const WeightFile& file) : bytes_(file.bytes) {
    const int fd = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw Error("INVALID_MODEL", "load", file.path + " cannot be opened: " + std::strerror(errno));
    struct stat st {};
    const bool known = ::fstat(fd, &st) == 0;
    if (!known || static_cast<uint64_t>(st.st_size) != file.bytes) {
      ::close(fd);
      throw Error("INVALID_MODEL", "load",
                  file.path + " should have " + std::to_string(file.bytes) + " bytes, but has " +
                      std::to_string(st.st_size) + ": it was cut or replaced; fetch the model again");
    }
    data_ = ::mmap(nullptr, file.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    ::close(fd);
    if (data_ == MAP_FAILED) {
      throw Error("OUT_OF_MEMORY", "load", file.path + " cannot be mapped: " + std::strerror(errno));
    }
  }
  ~Mapping() { ::munmap(data_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* at(uint64_t offset) const { return static_cast<char*>(data_) + offset; }

 private:
  void* data_ = nullptr;
  uint64_t bytes_;
};

using Mappings = std::vector<std::shared_ptr<Mapping>>;

at::ScalarType scalar_type(const TensorEntry& entry, const std::string& name) {
  if (entry.dtype == "F32") return at::kFloat;
  if (entry.dtype == "BF16") return at::kBFloat16;
  if (entry.dtype == "F16") return at::kHalf;
  throw Error("UNSUPPORTED_MODEL", "load", name + " has type " + entry.dtype + "; supported are F32, BF16 and F16");
}

// Exponent bits all set means infinity or NaN; integer tests run at memory speed.
template <typename Word, Word kExponent>
bool all_finite(const char* data, int64_t count) {
  std::atomic<bool> finite{true};
  at::parallel_for(0, count, 1 << 20, [&](int64_t begin, int64_t end) {
    const Word* words = reinterpret_cast<const Word*>(data);
    uint32_t bad = 0;
    for (int64_t i = begin; i < end; ++i) bad |= static_cast<uint32_t>((words[i] & kExponent) == kExponent);
    if (bad != 0) finite = false;
  });
  return finite;
}

void check_finite(const at::Tensor& tensor, const std::string& name, const std::string& path, const char* code) {
  const char* data = static_cast<const char*>(tensor.data_ptr());
  const int64_t n = tensor.numel();
  const bool finite = tensor.scalar_type() == at::kFloat      ? all_finite<uint32_t, 0x7f800000U>(data, n)
                      : tensor.scalar_type() == at::kBFloat16 ? all_finite<uint16_t, 0x7f80U>(data, n)
                                                              : all_finite<uint16_t, 0x7c00U>(data, n);
  if (!finite) {
    throw Error(code, "load", name + " in " + path + " holds NaN or infinite values: the file is damaged");
  }
}

at::Tensor mapped_tensor(const std::vector<WeightFile>& files, const Mappings& mappings, const TensorEntry& entry,
                         const std::string& name, const char* code) {
  const auto& mapping = mappings.at(static_cast<size_t>(entry.file));
  const at::ScalarType type = scalar_type(entry, name);
  char* data = mapping->at(entry.offset);
  const size_t item = c10::elementSize(type);
  at::Tensor tensor;
  if (reinterpret_cast<uintptr_t>(data) % item == 0) {
    tensor = at::from_blob(data, entry.shape, [mapping](void*) {}, at::TensorOptions().dtype(type));
  } else {
    tensor = at::empty(entry.shape, at::TensorOptions().dtype(type));
    std::memcpy(tensor.data_ptr(), data, entry.bytes);
  }
  check_finite(tensor, name, files[static_cast<size_t>(entry.file)].path, code);
  return tensor;
}

}  // namespace

int64_t Weights::bytes() const {
  int64_t total = 0;
  const_cast<Weights*>(this)->for_each([&](const std::string&, at::Tensor& t) { total += static_cast<int64_t>(t.nbytes()); });
  return total;
}

void Weights::for_each(const std::function<void(const std::string&, at::Tensor&)>& visit) {
  visit("embed_tokens", embedding);
  for (size_t l = 0; l < blocks.size(); ++l) {
    Block& block = blocks[l];
    const std::string prefix = "layers." + std::to_string(l) + ".";
    visit(prefix + "input_layernorm", block.input_norm);
    visit(prefix + "post_attention_layernorm", block.post_norm);
    if (block.q_norm.defined()) visit(prefix + "q_norm", block.q_norm);
    if (block.k_norm.defined()) visit(prefix + "k_norm", block.k_norm);
    for (int p = 0; p < kProjections; ++p) {
      visit(prefix + kProjectionNames[p] + ".weight", block.projections[p].weight);
      if (block.projections[p].bias.defined()) visit(prefix + kProjectionNames[p] + ".bias", block.projections[p].bias);
    }
  }
  visit("norm", norm);
  if (!head.is_same(embedding)) visit("lm_head", head);
}

Weights load_weights(const PolicyConfig& config, const std::function<void(int64_t, int64_t)>& progress) {
  const at::ScalarType compute = config.bfloat16 ? at::kBFloat16 : at::kFloat;
  int64_t total = 0, converted = 0, done = 0;
  for (const auto& [name, entry] : config.tensors) {
    total += static_cast<int64_t>(entry.bytes);
    const at::ScalarType type = scalar_type(entry, name);
    if (type != compute) {
      converted += static_cast<int64_t>(entry.bytes / c10::elementSize(type) * c10::elementSize(compute));
    }
  }
  config.budget->require("load", converted, "the converted weights");

  Mappings mappings;
  for (const WeightFile& file : config.files) mappings.push_back(std::make_shared<Mapping>(file));
  const auto get = [&](const std::string& name, at::ScalarType type) {
    const auto found = config.tensors.find(name);
    if (found == config.tensors.end()) throw Error("INVALID_MODEL", "load", name + " is missing");
    at::Tensor tensor = mapped_tensor(config.files, mappings, found->second, name, "INVALID_MODEL");
    if (tensor.scalar_type() != type) tensor = tensor.to(type);
    done += static_cast<int64_t>(found->second.bytes);
    progress(done, total);
    return tensor;
  };
  const auto has = [&](const std::string& name) { return config.tensors.count(name) > 0; };

  Weights weights;
  weights.embedding = get("embed_tokens", compute);
  weights.norm = get("norm", at::kFloat);
  weights.head = config.tied_head ? weights.embedding : get("lm_head", compute);
  for (int64_t l = 0; l < config.layers; ++l) {
    const std::string prefix = "layers." + std::to_string(l) + ".";
    Block block;
    block.input_norm = get(prefix + "input_layernorm", at::kFloat);
    block.post_norm = get(prefix + "post_attention_layernorm", at::kFloat);
    if (config.qk_norm) {
      block.q_norm = get(prefix + "q_norm", at::kFloat);
      block.k_norm = get(prefix + "k_norm", at::kFloat);
    }
    for (int p = 0; p < kProjections; ++p) {
      const std::string name = prefix + kProjectionNames[p];
      block.projections[p].weight = get(name + ".weight", compute);
      if (has(name + ".bias")) block.projections[p].bias = get(name + ".bias", compute);
    }
    weights.blocks.push_back(std::move(block));
  }
  return weights;
}

at::Tensor load_float32(const std::vector<WeightFile>& files, const TensorEntry& entry, const std::string& name) {
  Mappings mappings(files.size());
  mappings[static_cast<size_t>(entry.file)] = std::make_shared<Mapping>(files[static_cast<size_t>(entry.file)]);
  return mapped_tensor(files, mappings, entry, name, "INVALID_ADAPTER").to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace grpo

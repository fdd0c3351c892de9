#pragma once
#include <stdexcept>
#include <string>

namespace grpo {

// The one exception of the core: becomes a GrpoError {code, operation} in JavaScript.
// Message form: what was expected, what was found, what to do.
class Error : public std::runtime_error {
 public:
  Error(std::string code, std::string operation, const std::string& message)
      : std::runtime_error(message), code_(std::move(code)), operation_(std::move(operation)) {}
  const std::string& code() const { return code_; }
  const std::string& operation() const { return operation_; }

 private:
  std::string code_;
  std::string operation_;
};

}  // namespace grpo

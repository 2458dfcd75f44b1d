// What a call that may fail returns: a value or an Error. Nothing here throws.
//
// Codes answer one question: what should the caller do? The text answers the person:
// where, what, the offending value, what is allowed.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace cox {

enum class Code {
  kInvalidArgument,     // the input is wrong; do not retry until it is corrected
  kNotFound,            // no such object
  kForbidden,           // the caller may not do this
  kConflict,            // somebody else was first; read again
  kFailedPrecondition,  // not now; wait for the state to change
  kUnavailable,         // the other side is away; retry
  kInternal,            // a bug of ours or of a plugin
};

// "InvalidArgument", "NotFound", ... as printed and as sent over the control socket.
const char* CodeName(Code code);

struct Error {
  Code code = Code::kInternal;
  std::string text;

  friend bool operator==(const Error&, const Error&) = default;
};

inline Error InvalidArgument(std::string text) {
  return {Code::kInvalidArgument, std::move(text)};
}
inline Error NotFound(std::string text) {
  return {Code::kNotFound, std::move(text)};
}
inline Error Forbidden(std::string text) {
  return {Code::kForbidden, std::move(text)};
}
inline Error Conflict(std::string text) {
  return {Code::kConflict, std::move(text)};
}
inline Error FailedPrecondition(std::string text) {
  return {Code::kFailedPrecondition, std::move(text)};
}
inline Error Unavailable(std::string text) {
  return {Code::kUnavailable, std::move(text)};
}
inline Error Internal(std::string text) {
  return {Code::kInternal, std::move(text)};
}

// Spelled like std::expected, which our compilers lack; swap by alias when they have it.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*-explicit-*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  explicit operator bool() const { return state_.index() == 0; }
  bool has_value() const { return state_.index() == 0; }

  const T& operator*() const& { return std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }

  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT(*-explicit-*)

  explicit operator bool() const { return ok_; }
  bool has_value() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace cox

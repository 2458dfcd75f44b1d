// The enumerations and their words, both ways. Internal to spec/; everybody else calls Name().
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "spec/site.hpp"
#include "spec/training_job.hpp"

namespace cox::spec {

// The words of E in the order of its values.
template <class E>
std::span<const char* const> Words();

template <class E>
std::optional<E> FromWord(std::string_view word) {
  const auto words = Words<E>();
  for (size_t i = 0; i < words.size(); ++i) {
    if (word == words[i]) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace cox::spec

// Reads and writes structs by their Fields(). Internal to spec/. A Reader is only used on values
// that the schema has accepted, so it has nothing to complain about.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "spec/training_job.hpp"
#include "spec/words.hpp"

namespace cox::spec {

class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(const nlohmann::json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, T& member) {
    const auto it = object_.find(key);
    if (it != object_.end() && !it->is_null()) Get(*it, member);
  }

  template <class F>
  void Group(const char* key, F&& fields) {
    const auto it = object_.find(key);
    if (it == object_.end()) return;
    Reader inner(*it);
    fields(inner);
  }

  // Mounts of three kinds share one list.
  void Mounts(const char* key, Mount::Kind kind, std::vector<Mount>& mounts) {
    const auto it = object_.find(key);
    if (it == object_.end()) return;
    for (const auto& item : *it) {
      Mount& mount = mounts.emplace_back();
      mount.kind = kind;
      Get(item, mount);
    }
  }

 private:
  template <class T>
  static void Get(const nlohmann::json& value, T& member) {
    if constexpr (std::is_enum_v<T>) {
      member = FromWord<T>(value.get_ref<const std::string&>()).value_or(member);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      value.get_to(member);
    } else {
      Reader inner(value);
      Fields(inner, member);
    }
  }
  template <class T>
  static void Get(const nlohmann::json& value, std::optional<T>& member) {
    Get(value, member.emplace());
  }
  template <class T>
  static void Get(const nlohmann::json& value, std::vector<T>& member) {
    member.clear();
    for (const auto& item : value) Get(item, member.emplace_back());
  }
  static void Get(const nlohmann::json& value, std::map<std::string, std::string>& member) {
    value.get_to(member);
  }

  const nlohmann::json& object_;
};

class Writer {
 public:
  static constexpr bool kReads = false;
  using Json = nlohmann::ordered_json;
  explicit Writer(Json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, T& member) {
    object_[key] = Put(member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    if (member) object_[key] = Put(*member);
  }

  template <class F>
  void Group(const char* key, F&& fields) {
    Json value = Json::object();
    Writer inner(value);
    fields(inner);
    object_[key] = std::move(value);
  }

  void Mounts(const char* key, Mount::Kind kind, std::vector<Mount>& mounts) {
    Json list = Json::array();
    for (Mount& mount : mounts) {
      if (mount.kind == kind) list.push_back(Put(mount));
    }
    object_[key] = std::move(list);
  }

 private:
  template <class T>
  static Json Put(T& member) {
    if constexpr (std::is_enum_v<T>) {
      return Name(member);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return member;
    } else {
      Json value = Json::object();
      Writer inner(value);
      Fields(inner, member);
      return value;
    }
  }
  template <class T>
  static Json Put(std::vector<T>& member) {
    Json list = Json::array();
    for (T& item : member) list.push_back(Put(item));
    return list;
  }
  static Json Put(std::map<std::string, std::string>& member) {
    return member.empty() ? Json::object() : Json(member);
  }

  Json& object_;
};

}  // namespace cox::spec

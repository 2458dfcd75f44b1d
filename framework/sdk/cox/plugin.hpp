// cox/plugin.hpp -- C++17 comfort over cox/plugin.h. Header-only and compiled into the plugin, so
// that no C++ type, exception or allocation ever crosses the line to the scheduler.
//
// Derive your class from one or more of Quota, Priority, NodePolicy, Fault, Monitor, give it a
// constructor that takes a `const cox::Config&`, and end the file with COX_PLUGIN. The plugin then
// offers exactly the extensions its class derives from. Throw what you like: Guard turns it into an
// error code and a text. Threads and lifetimes are those written in cox/plugin.h.
#pragma once

#include <cox/plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace cox {

template <class T>
class Span {
 public:
  Span(T* data, size_t size) : data_(data), size_(size) {}
  T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return data_[i]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

 private:
  T* data_;
  size_t size_;
};

inline std::string_view Str(cox_str s) {
  return {s.ptr, s.len};
}
inline cox_str Str(std::string_view s) {
  return {s.data(), s.size()};
}

// The name behind a row of view->users, pools, ...; "?" when the host does not know it.
inline std::string_view Name(const cox_names* names, uint32_t row) {
  return names != nullptr && row < names->count ? Str(names->name[row]) : "?";
}

// Writes into a fixed field of the host's. What does not fit is cut between two characters.
template <size_t N>
void Put(char (&field)[N], std::string_view text) {
  size_t n = text.size() < N ? text.size() : N - 1;
  if (n < text.size())
    while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U) --n;
  if (n > 0) std::memcpy(field, text.data(), n);
  field[n] = '\0';
}

// The instance's configuration, checked against the plugin's schema, defaults filled. A key that is
// not there, or has another type, throws: the schema forgot a default. Also the way to the log.
class Config {
 public:
  explicit Config(const cox_host* host, std::string prefix = "")
      : host_(host), prefix_(std::move(prefix)) {}

  int64_t Int(std::string_view key) const {
    return Get<int64_t>(key, "an integer", host_->cfg_i64);
  }
  double Double(std::string_view key) const { return Get<double>(key, "a number", host_->cfg_f64); }
  // Elements of an array or object.
  uint32_t Len(std::string_view key) const {
    return Get<uint32_t>(key, "an array or object", host_->cfg_len);
  }
  // Lives as long as the instance.
  std::string_view Str(std::string_view key) const {
    return cox::Str(Get<cox_str>(key, "a string", host_->cfg_str));
  }
  bool Bool(std::string_view key) const { return Int(key) != 0; }

  // Element i of the array `key`, as a configuration of its own.
  Config At(std::string_view key, uint32_t i) const {
    return Config(host_, Path(key) + "." + std::to_string(i) + ".");
  }
  // Element i of an array of plain values.
  static std::string Item(std::string_view key, uint32_t i) {
    return std::string(key) + "." + std::to_string(i);
  }
  std::string Path(std::string_view key) const { return prefix_ + std::string(key); }

  const cox_host* host() const { return host_; }

 private:
  template <class T>
  T Get(std::string_view key, const char* kind, int32_t (*getter)(void*, cox_str, T*)) const {
    const std::string path = Path(key);
    T value{};
    if (getter(host_->ctx, {path.data(), path.size()}, &value) != COX_OK)
      throw std::invalid_argument("configuration: " + path + " is not there or not " + kind +
                                  "; give it a type and a default in the schema");
    return value;
  }

  const cox_host* host_;
  std::string prefix_;
};

// The host's log and counters. Copy it out of the Config in the constructor.
class Host {
 public:
  explicit Host(const Config& config) : host_(config.host()) {}
  void Error(std::string_view text) const { Log(0, text); }
  void Warn(std::string_view text) const { Log(1, text); }
  void Info(std::string_view text) const { Log(2, text); }
  void Count(std::string_view metric, double by = 1) const {
    host_->count(host_->ctx, Str(metric), by);
  }

 private:
  void Log(int32_t level, std::string_view text) const { host_->log(host_->ctx, level, Str(text)); }
  const cox_host* host_;
};

// One node column, or nullptr when this host does not fill it. Rows 0..nodes->count-1 are nodes;
// looping to nodes->stride instead lets the compiler vectorise.
inline const int32_t* Column(const cox_view& view, uint32_t column) {
  const cox_nodes* nodes = view.nodes;
  return nodes != nullptr && nodes->column != nullptr && column < nodes->columns
             ? nodes->column[column]
             : nullptr;
}

// out[i] = f(i) for each node: a call per node that stays inside the plugin, at loop speed.
template <class F>
void ForEachNode(const cox_view& view, Span<int32_t> out, F&& f) {
  const uint32_t count = view.nodes != nullptr ? view.nodes->count : 0;
  for (uint32_t i = 0; i < count && i < out.size(); ++i) out[i] = f(i);
}

// ---- The base classes ----

class Plugin {
 public:
  virtual ~Plugin() = default;
  // A short static text for a code that this plugin returned, without COX_FIXED.
  virtual const char* Reason(cox_verdict) const { return "refused"; }
};

class Quota : public virtual Plugin {
 public:
  virtual void Admit(const cox_view&, const cox_asks&, Span<cox_verdict> out) = 0;
  virtual void Explain(const cox_view&, const cox_asks&, uint32_t /*ask*/, cox_verdict verdict,
                       cox_reason& out) {
    Put(out.text, Reason(verdict & 0x7fffU));
  }
};

class Priority : public virtual Plugin {
 public:
  virtual void Rank(const cox_view&, Span<int64_t> out) = 0;
};

// Override what you need: a hook that is not overridden is not offered.
class NodePolicy : public virtual Plugin {
 public:
  virtual void Filter(const cox_view&, const cox_shape&, Span<int32_t> /*verdicts*/) {}
  virtual void Score(const cox_view&, const cox_shape&, Span<int32_t> /*scores*/) {}
  virtual void ExplainNodes(const cox_view&, const cox_shape&, cox_verdict,
                            Span<const uint32_t> /*nodes*/, cox_reason&) {}
};

class Fault : public virtual Plugin {
 public:
  virtual void Judge(const cox_failure&, cox_fault_verdict& out) = 0;
};

class Monitor : public virtual Plugin {
 public:
  virtual void Observe(const cox_samples&, const cox_targets&) = 0;
};

// ---- From the C tables to the class and back ----

namespace detail {

// Runs f; an exception of any type becomes a code and a text.
template <class F>
int32_t Guard(cox_error* error, F&& f) noexcept {
  try {
    f();
    return COX_OK;
  } catch (const std::invalid_argument& x) {
    if (error != nullptr) Put(error->text, x.what());
    return COX_INVALID_ARGUMENT;
  } catch (const std::exception& x) {
    if (error != nullptr) Put(error->text, x.what());
  } catch (...) {
    if (error != nullptr) Put(error->text, "threw something that is no std::exception");
  }
  return COX_INTERNAL;
}

template <class P>
struct Glue {
  static_assert(std::is_base_of_v<Quota, P> || std::is_base_of_v<Priority, P> ||
                    std::is_base_of_v<NodePolicy, P> || std::is_base_of_v<Fault, P> ||
                    std::is_base_of_v<Monitor, P>,
                "derive the plugin class from cox::Quota, Priority, NodePolicy, Fault or Monitor");
  static_assert(std::is_constructible_v<P, const Config&>,
                "the plugin class needs a constructor that takes a const cox::Config&");

  static P& Self(void* self) { return *static_cast<P*>(self); }

  static int32_t Create(const cox_host* host, void** self, cox_error* error) {
    return Guard(error, [&] { *self = new P(Config(host)); });
  }
  static void Destroy(void* self) {
    (void)Guard(nullptr, [&] { delete static_cast<P*>(self); });
  }
  static const char* Reason(void* self, cox_verdict verdict) {
    const char* text = "";
    (void)Guard(nullptr, [&] { text = Self(self).Reason(verdict & 0x7fffU); });
    return text;
  }

  static int32_t Admit(void* self, const cox_view* v, const cox_asks* a, cox_verdict* out,
                       cox_error* error) {
    return Guard(error, [&] { Self(self).Admit(*v, *a, {out, a->count}); });
  }
  static int32_t Explain(void* self, const cox_view* v, const cox_asks* a, uint32_t ask,
                         cox_verdict verdict, cox_reason* out, cox_error* error) {
    return Guard(error, [&] { Self(self).Explain(*v, *a, ask, verdict, *out); });
  }
  static int32_t Rank(void* self, const cox_view* v, int64_t* out, cox_error* error) {
    return Guard(error, [&] {
      Self(self).Rank(*v, {out, v->pending != nullptr ? v->pending->count : 0U});
    });
  }
  static int32_t Filter(void* self, const cox_view* v, const cox_shape* s, int32_t* out,
                        cox_error* error) {
    return Guard(error, [&] {
      Self(self).Filter(*v, *s, {out, v->nodes != nullptr ? v->nodes->stride : 0U});
    });
  }
  static int32_t Score(void* self, const cox_view* v, const cox_shape* s, int32_t* out,
                       cox_error* error) {
    return Guard(error, [&] {
      Self(self).Score(*v, *s, {out, v->nodes != nullptr ? v->nodes->stride : 0U});
    });
  }
  static int32_t ExplainNodes(void* self, const cox_view* v, const cox_shape* s,
                              cox_verdict verdict, const uint32_t* nodes, uint32_t n,
                              cox_reason* out, cox_error* error) {
    return Guard(error, [&] { Self(self).ExplainNodes(*v, *s, verdict, {nodes, n}, *out); });
  }
  static int32_t Judge(void* self, const cox_failure* failure, cox_fault_verdict* out,
                       cox_error* error) {
    return Guard(error, [&] { Self(self).Judge(*failure, *out); });
  }
  static int32_t Observe(void* self, const cox_samples* samples, const cox_targets* targets,
                         cox_error* error) {
    return Guard(error, [&] { Self(self).Observe(*samples, *targets); });
  }

  static const cox_node_policy* NodePolicyTable() {
    // A member that P inherits unchanged has NodePolicy as its class, and is not offered.
    constexpr bool filters = !std::is_same_v<decltype(&P::Filter), decltype(&NodePolicy::Filter)>;
    constexpr bool scores = !std::is_same_v<decltype(&P::Score), decltype(&NodePolicy::Score)>;
    constexpr bool explains =
        !std::is_same_v<decltype(&P::ExplainNodes), decltype(&NodePolicy::ExplainNodes)>;
    static_assert(filters || scores, "a cox::NodePolicy overrides Filter, Score or both, publicly");
    static const cox_node_policy table = {sizeof table, 0, filters ? &Filter : nullptr,
                                          scores ? &Score : nullptr,
                                          explains ? &ExplainNodes : nullptr};
    return &table;
  }

  static const void* Extension(void*, const char* id) {
    if (id == nullptr) return nullptr;
    if constexpr (std::is_base_of_v<Quota, P>) {
      static const cox_quota table = {sizeof table, 0, &Admit, &Explain};
      if (std::strcmp(id, COX_EXT_QUOTA) == 0) return &table;
    }
    if constexpr (std::is_base_of_v<Priority, P>) {
      static const cox_priority table = {sizeof table, 0, &Rank};
      if (std::strcmp(id, COX_EXT_PRIORITY) == 0) return &table;
    }
    if constexpr (std::is_base_of_v<NodePolicy, P>) {
      if (std::strcmp(id, COX_EXT_NODE_POLICY) == 0) return NodePolicyTable();
    }
    if constexpr (std::is_base_of_v<Fault, P>) {
      static const cox_fault table = {sizeof table, 0, &Judge};
      if (std::strcmp(id, COX_EXT_FAULT) == 0) return &table;
    }
    if constexpr (std::is_base_of_v<Monitor, P>) {
      static const cox_monitor table = {sizeof table, 0, &Observe};
      if (std::strcmp(id, COX_EXT_MONITOR) == 0) return &table;
    }
    return nullptr;
  }
};

// An ELF note, so that `cox plugin inspect` can read what a plugin is without running any of its
// code: owner "Coxswain", type 1, four strings, each with its NUL.
template <size_t I, size_t V, size_t S, size_t C>
struct Note {
  uint32_t owner_size = 9, content_size = 4 + I + V + S + C, type = 1;
  char owner[12] = "Coxswain";
  uint16_t abi_major = COX_ABI_MAJOR, abi_minor = COX_ABI_MINOR;
  char strings[I + V + S + C] = {};

  constexpr Note(const char (&id)[I], const char (&version)[V], const char (&summary)[S],
                 const char (&schema)[C]) {
    size_t at = 0;
    for (char c : id) strings[at++] = c;
    for (char c : version) strings[at++] = c;
    for (char c : summary) strings[at++] = c;
    for (char c : schema) strings[at++] = c;
  }
};

}  // namespace detail

// The table of a plugin class. COX_PLUGIN exports one; tests of a host may hand it over directly.
template <class P>
constexpr cox_plugin MakePlugin(const char* id, const char* version, const char* summary,
                                const char* schema) {
  using Glue = detail::Glue<P>;
  return {
      sizeof(cox_plugin), COX_ABI_MAJOR,  COX_ABI_MINOR,    id,           version, summary, schema,
      &Glue::Create,      &Glue::Destroy, &Glue::Extension, &Glue::Reason};
}

}  // namespace cox

// The five arguments: the class, then string literals (or constexpr char arrays): reverse-DNS id,
// version, one line of summary, JSON Schema (draft 7) of the configuration.
#define COX_PLUGIN(Class, Id, Version, Summary, Schema)                                           \
  /* `auto`: with a deduced class template here, g++ 12 would make the section writable. */       \
  __attribute__((section(".note.cox"), used, aligned(4))) static constexpr auto cox_plugin_note = \
      cox::detail::Note(Id, Version, Summary, Schema);                                            \
  extern "C" const cox_plugin* cox_plugin_entry(void) {                                           \
    static const cox_plugin plugin = cox::MakePlugin<Class>(Id, Version, Summary, Schema);        \
    return &plugin;                                                                               \
  }

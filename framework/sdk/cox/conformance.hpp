// cox/conformance.hpp -- what every host expects of every plugin, as a suite its author runs:
//
//   TEST(MyPlugin, Conforms) { EXPECT_EQ(cox::conformance::Failures(COX_PLUGIN_UNDER_TEST), ""); }
//
// Each probe loads the plugin in a child process, so that a crash or an endless loop is one line of
// the report. Asked of every extension the plugin offers: it succeeds on a full cluster, on an
// empty one, on a host that knows no node columns and on one without ledger, policies and names;
// what it returns is in range; each refusal has a reason and an explanation; the same call twice,
// and by a second instance, gives the same bytes; nothing is written beyond the rows given.
#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <cox/harness.hpp>

#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cox::conformance {
namespace detail {

using harness::Cluster;
using Lines = std::vector<std::string>;

// ---- what is asked ----

inline Cluster Rich() {
  using namespace harness;
  Cluster c;
  c.Now(1'000'000);
  for (int i = 0; i < 70; ++i)  // more than one block of 64 rows
    c.Add(harness::Node("n" + std::to_string(i)).Gpus(i % 3 * 4, i % 3 * 2).ReadyFor(i * 60));
  for (uint32_t j = 0; j < 6; ++j)
    c.Add(Job(100 + j)
              .User("user" + std::to_string(j % 2))
              .Priority(j % 3)
              .Capacity(j % 4)
              .SubmittedAt(j * 1000));
  c.Add(harness::Quota(COX_TENANT, "tenant", COX_RESERVED, "pool", "flavor", 8, 6));
  c.Add(harness::Quota(COX_USER, "user0", COX_RESERVED, "pool", "flavor", -1, 2));
  for (uint32_t j = 0; j < 6; ++j) c.Add(Ask(j, j % 4, "pool", "flavor", 1 + j * 3));
  c.Add(Policy("np-1").OfUser("user0").NotIn({"n1", "n2"}).Until(1'000'100));
  c.Add(Policy("np-2").OfTenant("tenant").In({"n1", "n2", "n3", "n4"}).Until(2'000'000));
  c.Add(Policy("").AfterFailureOf(100).NotIn({"n3"}).Until(1'000'050));
  return c;
}

struct Setting {
  const char* name;
  Cluster cluster;
  bool null_tables = false;
};

inline std::vector<Setting> Settings() {
  Cluster bare = Rich();
  bare.OnlyColumns(0);
  return {{"a full cluster", Rich()},
          {"an empty cluster", Cluster()},
          {"a host without node columns", bare},
          {"a host without ledger, policies and names", Rich(), true}};
}

inline cox_view ViewOf(Setting& setting) {
  cox_view view = setting.cluster.view();
  if (setting.null_tables) {
    view.ledger = nullptr;
    view.policies = nullptr;
    view.users = view.projects = view.tenants = view.pools = view.flavors = view.gpu_types =
        nullptr;
  }
  return view;
}

// Asks with no rows where there is no ledger to have rows in.
inline cox_asks AsksOf(const Setting& setting, std::vector<uint32_t>& no_rows) {
  cox_asks asks = setting.cluster.asks_of_view();
  no_rows.assign(asks.count + 1, 0);
  if (setting.null_tables) asks.row_begin = no_rows.data();
  return asks;
}

// ---- how it is judged ----

class Judge {
 public:
  Judge(harness::Plugin& plugin, Lines& out) : plugin_(plugin), out_(out) {}

  void Say(const std::string& line) { out_.push_back(line); }
  void Expect(bool ok, const std::string& line) {
    if (!ok) Say(line);
  }
  bool Ok(int32_t code, const cox_error& error, const std::string& what) {
    if (code == COX_OK) return true;
    const std::string text(error.text, strnlen(error.text, sizeof error.text));
    Say(what + " returned " + std::to_string(code) +
        (text.empty() ? " without a text" : ": " + text));
    return false;
  }
  void Verdict(int64_t v, const std::string& what) {
    const int64_t code = v & 0x7fff;
    if (v == 0) return;
    if (v < 0 || v > 0xffff || code == 0 || code == 0x7fff) {
      Say(what + ": verdict " + std::to_string(v) + " is no reason code (1..32766, + COX_FIXED)");
      return;
    }
    const char* text = plugin_.table().reason(plugin_.self(), static_cast<cox_verdict>(code));
    Expect(text != nullptr && *text != '\0',
           what + ": reason code " + std::to_string(code) + " has no text");
  }
  template <size_t N>
  void Terminated(const char (&field)[N], const std::string& what, bool needed) {
    const size_t n = strnlen(field, N);
    Expect(n < N, what + " is not terminated");
    Expect(n > 0 || !needed, what + " is empty");
  }
  void Reason(const cox_reason& reason, const std::string& what) {
    Terminated(reason.code, what + ": code", false);
    Terminated(reason.policy, what + ": policy", false);
    Terminated(reason.text, what + ": text", true);
    Expect(reason.retry_at_ns >= 0, what + ": retry_at_ns is negative");
  }

  harness::Plugin& plugin() { return plugin_; }

 private:
  harness::Plugin& plugin_;
  Lines& out_;
};

constexpr int32_t kCanary = 0x5ca1ab1e;

// Runs a hook over node rows, twice; the lanes, or nothing when it failed.
template <class Hook>
std::vector<int32_t> Lanes(Judge& judge, Hook hook, const cox_view& view, const cox_shape& shape,
                           const std::string& what) {
  std::vector<int32_t> first;
  for (int run = 0; run < 2; ++run) {
    std::vector<int32_t> memory(view.nodes->stride + 128, kCanary);
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    const size_t at = (64 - address % 64) % 64 / sizeof(int32_t) + 64;
    std::fill_n(memory.begin() + at, view.nodes->stride, 0);
    cox_error error{sizeof error, {}};
    const int32_t code = hook(judge.plugin().self(), &view, &shape, memory.data() + at, &error);
    if (!judge.Ok(code, error, what)) return {};
    judge.Expect(memory[at - 1] == kCanary && memory[at + view.nodes->stride] == kCanary,
                 what + " wrote outside of its rows");
    std::vector<int32_t> lanes(memory.begin() + at, memory.begin() + at + view.nodes->count);
    if (run == 0) first = lanes;
    judge.Expect(lanes == first, what + " gave two answers to the same question");
  }
  return first;
}

inline void ProbeNodePolicy(Judge& judge, Setting& setting) {
  const auto* hooks = judge.plugin().Find<cox_node_policy>(COX_EXT_NODE_POLICY);
  if (hooks == nullptr) return;
  judge.Expect(hooks->filter != nullptr || hooks->score != nullptr,
               "cox_node_policy has neither filter nor score");
  const cox_view view = ViewOf(setting);
  if (view.pending->count == 0) return;  // nobody asks for nodes then
  const cox_shape shape = Cluster::Shape(0, 1);
  if (hooks->score != nullptr)
    for (const int32_t score : Lanes(judge, hooks->score, view, shape, "score"))
      if (score < 0 || score > 10'000) {
        judge.Say("score " + std::to_string(score) + " is outside 0..10000");
        break;
      }
  if (hooks->filter == nullptr) return;
  const auto lanes = Lanes(judge, hooks->filter, view, shape, "filter");
  for (uint32_t n = 0; n < lanes.size(); ++n) {
    judge.Verdict(lanes[n], "filter");
    if (lanes[n] == 0 || hooks->explain == nullptr) continue;
    cox_reason reason{};
    reason.struct_size = sizeof reason;
    cox_error error{sizeof error, {}};
    const int32_t code = hooks->explain(judge.plugin().self(), &view, &shape,
                                        static_cast<cox_verdict>(lanes[n]), &n, 1, &reason, &error);
    if (judge.Ok(code, error, "explain"))
      judge.Reason(reason, "explain of node " + std::to_string(n));
  }
}

inline void ProbeQuota(Judge& judge, Setting& setting) {
  const auto* hooks = judge.plugin().Find<cox_quota>(COX_EXT_QUOTA);
  if (hooks == nullptr) return;
  const cox_view view = ViewOf(setting);
  std::vector<uint32_t> no_rows;
  const cox_asks asks = AsksOf(setting, no_rows);
  std::vector<cox_verdict> first;
  for (int run = 0; run < 2; ++run) {
    std::vector<cox_verdict> out(asks.count + 1);
    out.back() = 0x1234;
    cox_error error{sizeof error, {}};
    const int32_t code = hooks->admit(judge.plugin().self(), &view, &asks, out.data(), &error);
    if (!judge.Ok(code, error, "admit")) return;
    judge.Expect(out.back() == 0x1234, "admit wrote outside of its rows");
    if (run == 0) first = out;
    judge.Expect(out == first, "admit gave two answers to the same question");
  }
  for (uint32_t a = 0; a < asks.count; ++a) {
    judge.Verdict(first[a], "admit");
    if (first[a] == COX_ALLOW || hooks->explain == nullptr) continue;
    cox_reason reason{};
    reason.struct_size = sizeof reason;
    cox_error error{sizeof error, {}};
    const int32_t code =
        hooks->explain(judge.plugin().self(), &view, &asks, a, first[a], &reason, &error);
    if (judge.Ok(code, error, "explain"))
      judge.Reason(reason, "explain of ask " + std::to_string(a));
  }
}

inline void ProbePriority(Judge& judge, Setting& setting) {
  const auto* hooks = judge.plugin().Find<cox_priority>(COX_EXT_PRIORITY);
  if (hooks == nullptr) return;
  const cox_view view = ViewOf(setting);
  std::vector<int64_t> first;
  for (int run = 0; run < 2; ++run) {
    std::vector<int64_t> out(view.pending->count + 1);
    out.back() = kCanary;
    cox_error error{sizeof error, {}};
    if (!judge.Ok(hooks->rank(judge.plugin().self(), &view, out.data(), &error), error, "rank"))
      return;
    judge.Expect(out.back() == kCanary, "rank wrote outside of its rows");
    if (run == 0) first = out;
    judge.Expect(out == first, "rank gave two answers to the same question");
    for (const int64_t rank : out)
      judge.Expect(rank >= -(int64_t{1} << 40) && rank <= (int64_t{1} << 40),
                   "rank " + std::to_string(rank) + " is outside +-2^40");
  }
}

inline void ProbeFault(Judge& judge) {
  const auto* hooks = judge.plugin().Find<cox_fault>(COX_EXT_FAULT);
  if (hooks == nullptr) return;
  for (uint32_t cause = COX_CAUSE_EXIT; cause <= COX_CAUSE_SPOT_EVICTED; ++cause)
    for (uint32_t policy = COX_POLICY_ON_FAILURE; policy <= COX_POLICY_NEVER; ++policy)
      for (uint32_t enabled = 0; enabled < 2; ++enabled) {
        cox_failure failure{};
        failure.struct_size = sizeof failure;
        failure.cause = cause;
        failure.exit_code = 1;
        failure.enabled = enabled;
        failure.policy = policy;
        failure.max_retries = 3;
        failure.retries_used =
            1000;  // beyond what the job allows: a shift by it would be undefined
        failure.max_preemption_retries = -1;
        const std::string what = "judge of cause " + std::to_string(cause);
        cox_fault_verdict verdicts[2] = {};
        for (cox_fault_verdict& verdict : verdicts) {
          verdict.struct_size = sizeof verdict;
          cox_error error{sizeof error, {}};
          if (!judge.Ok(hooks->judge(judge.plugin().self(), &failure, &verdict, &error), error,
                        what))
            return;
        }
        const cox_fault_verdict& v = verdicts[0];
        judge.Expect(std::memcmp(&v, &verdicts[1], sizeof v) == 0,
                     what + " gave two answers to the same question");
        judge.Expect(v.failure_class <= COX_CLASS_APP, what + ": unknown failure_class");
        judge.Expect(v.backoff_ns >= 0 && v.exclude_ttl_ns >= 0, what + ": a negative time");
        judge.Expect(enabled != 0 || v.retry == 0, what + ": retries though the job forbids it");
        judge.Terminated(v.reason, what + ": reason", true);
        judge.Terminated(v.text, what + ": text", true);
      }
}

inline void ProbeMonitor(Judge& judge) {
  const auto* hooks = judge.plugin().Find<cox_monitor>(COX_EXT_MONITOR);
  if (hooks == nullptr) return;
  const cox_str name[] = {{"cox_probe_total", 15}}, help[] = {{"A probe.", 8}};
  const uint32_t kind[] = {COX_COUNTER}, begin[] = {0, 0};
  const double value[] = {1};
  const cox_samples one = {sizeof one, 1, name, help, kind, value, begin, nullptr, nullptr};
  const cox_samples none = {sizeof none, 0,     nullptr, nullptr, nullptr,
                            nullptr,     begin, nullptr, nullptr};
  const cox_targets no_targets = {sizeof no_targets, 0, nullptr, nullptr, begin, nullptr, nullptr};
  for (const cox_samples* samples : {&none, &one, &one}) {
    cox_error error{sizeof error, {}};
    judge.Ok(hooks->observe(judge.plugin().self(), samples, &no_targets, &error), error, "observe");
  }
}

inline void ProbeTable(Judge& judge) {
  const cox_plugin& t = judge.plugin().table();
  judge.Expect(t.struct_size >= sizeof t, "struct_size of cox_plugin is too small");
  for (const char* text : {t.id, t.version, t.summary, t.config_schema})
    judge.Expect(text != nullptr && *text != '\0',
                 "id, version, summary or config_schema is empty");
  judge.Expect(t.id != nullptr && std::strchr(t.id, '.') != nullptr,
               "id is not in reverse-DNS form, such as org.example.name");
  bool offers = false;
  for (const char* id :
       {COX_EXT_QUOTA, COX_EXT_PRIORITY, COX_EXT_NODE_POLICY, COX_EXT_FAULT, COX_EXT_MONITOR}) {
    const auto* table = judge.plugin().Find<uint32_t>(id);  // each begins with its struct_size
    offers |= table != nullptr;
    judge.Expect(table == nullptr || *table >= 2 * sizeof(uint32_t),
                 std::string(id) + ": struct_size is not set");
  }
  judge.Expect(offers, "offers no extension that this SDK knows");
  for (const char* id : {"", "cox.unknown/9", "cox.quota/999"})
    judge.Expect(judge.plugin().Find<void>(id) == nullptr,
                 std::string("offers the unknown extension \"") + id + "\"");
}

// A host whose configuration has nothing in it: create() may refuse, with a text; not crash.
inline void ProbeNoConfiguration(Judge& judge) {
  cox_host host = {sizeof host,
                   0,
                   nullptr,
                   [](void*, int32_t, cox_str) {},
                   [](void*, cox_str, double) {},
                   [](void*, cox_str, int64_t*) -> int32_t { return COX_INVALID_ARGUMENT; },
                   [](void*, cox_str, double*) -> int32_t { return COX_INVALID_ARGUMENT; },
                   [](void*, cox_str, cox_str*) -> int32_t { return COX_INVALID_ARGUMENT; },
                   [](void*, cox_str, uint32_t*) -> int32_t { return COX_INVALID_ARGUMENT; }};
  void* self = nullptr;
  cox_error error{sizeof error, {}};
  const cox_plugin& table = judge.plugin().table();
  if (table.create(&host, &self, &error) == COX_OK)
    table.destroy(self);
  else
    judge.Terminated(error.text, "create without configuration: text", true);
}

// Runs `probe` in a child; its lines, or how it died.
inline void InChild(const std::string& name, const std::function<void(Lines&)>& probe, Lines& out) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) throw std::runtime_error("conformance: no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("conformance: no fork");
  if (child == 0) {
    close(pipe_ends[0]);
    alarm(20);
    Lines lines;
    try {
      probe(lines);
    } catch (const std::exception& x) {
      lines.emplace_back(x.what());
    }
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(pipe_ends[1], text.data() + at, text.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(pipe_ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    out.push_back("on " + name + ": " + text.substr(at, end - at));
  if (WIFSIGNALED(status))
    out.push_back("on " + name + ": " +
                  (WTERMSIG(status) == SIGALRM
                       ? "does not come to an end"
                       : "crashes with signal " + std::to_string(WTERMSIG(status))));
  else if (WEXITSTATUS(status) != 0)
    out.push_back("on " + name + ": ends the process with code " +
                  std::to_string(WEXITSTATUS(status)));
}

}  // namespace detail

// One line a failure; "" = the plugin conforms. `config`: JSON, the schema's defaults fill the
// rest.
inline std::string Failures(const std::string& path, const std::string& config = "{}") {
  using namespace detail;
  Lines lines;
  const auto probe = [&](const std::string& name, const std::function<void(Judge&)>& f) {
    InChild(
        name,
        [&](Lines& out) {
          harness::Plugin plugin(path, config);
          Judge judge(plugin, out);
          f(judge);
        },
        lines);
  };
  probe("load", ProbeTable);
  probe("a host without configuration", ProbeNoConfiguration);
  for (Setting& setting : Settings())
    probe(setting.name, [&](Judge& judge) {
      ProbeQuota(judge, setting);
      ProbePriority(judge, setting);
      ProbeNodePolicy(judge, setting);
    });
  probe("failures of every cause", ProbeFault);
  probe("samples", ProbeMonitor);
  std::string text, last;
  for (const std::string& line : lines)
    if (line != last) text += (last = line) + "\n";
  return text;
}

}  // namespace cox::conformance

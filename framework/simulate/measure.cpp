#include "simulate/measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "simulate/sweep.hpp"

namespace cox::simulate {
namespace {

Spread SpreadOf(std::vector<int64_t> values) {
  Spread spread;
  if (values.empty()) return spread;
  std::ranges::sort(values);
  const auto at = [&](int64_t percent) {  // nearest rank
    const auto n = static_cast<int64_t>(values.size());
    return values[static_cast<size_t>(std::max<int64_t>((n * percent + 99) / 100, 1) - 1)];
  };
  spread.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  spread.median = at(50);
  spread.p99 = at(99);
  spread.most = values.back();
  return spread;
}

// Who waited for more than a day, while a job that came later and has no higher priority started?
class Overtaking {
 public:
  explicit Overtaking(const Record& record) {
    for (const JobRecord& job : record.jobs) {
      if (job.start >= 0) starts_[job.priority].push_back({job.start, job.submit});
    }
    for (auto& [priority, starts] : starts_) {
      std::ranges::sort(starts);
      auto& table = latest_[priority].emplace_back();
      for (const auto& [start, submit] : starts) table.push_back(submit);
      for (size_t half = 1; half * 2 <= starts.size(); half *= 2) {
        const std::vector<int64_t>& before = latest_[priority].back();
        std::vector<int64_t> next(starts.size() - 2 * half + 1);
        for (size_t i = 0; i < next.size(); ++i) next[i] = std::max(before[i], before[i + half]);
        latest_[priority].push_back(std::move(next));
      }
    }
  }

  bool Starved(const JobRecord& job, int64_t until) const {
    const int64_t end = job.start < 0 ? until : job.start;
    if (!job.refused.empty() || end - job.submit <= kStarvedSeconds) return false;
    return std::ranges::any_of(starts_, [&](const auto& level) {
      return level.first <= job.priority &&
             Latest(level.first, job.submit + kStarvedSeconds, end) > job.submit;
    });
  }

 private:
  // The latest submission among the starts in [from, to).
  int64_t Latest(int64_t priority, int64_t from, int64_t to) const {
    const auto& starts = starts_.at(priority);
    const auto first = std::ranges::lower_bound(starts, std::pair(from, INT64_MIN));
    const auto last = std::ranges::lower_bound(starts, std::pair(to, INT64_MIN));
    if (first >= last) return INT64_MIN;
    const auto count = static_cast<size_t>(last - first);
    const auto i = static_cast<size_t>(first - starts.begin());
    size_t power = 0;
    while (size_t{2} << power <= count) ++power;
    const std::vector<int64_t>& table = latest_.at(priority)[power];
    return std::max(table[i], table[i + count - (size_t{1} << power)]);
  }

  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> starts_;  // start, submit
  std::map<int64_t, std::vector<std::vector<int64_t>>> latest_;         // by power of two
};

// "1 GPU", "2-8 GPU", ...
std::string SizeOf(int64_t units, const std::string& unit) {
  int64_t low = 1, high = 1;
  while (units > high) {
    low = high + 1;
    high *= 8;
  }
  if (high == 1) return "up to 1 " + unit;
  return std::to_string(low) + "-" + std::to_string(high) + " " + unit;
}

class Figures {
 public:
  Figures(const Record& record, const Report& report)
      : record_(record), unit_(report.unit), overtaking_(record) {
    unit_seconds_.resize(record.jobs.size());
    lost_.resize(record.jobs.size());
    for (const Run& run : record.runs) {
      const double units = UnitsOf(record.jobs[run.job], unit_);
      unit_seconds_[run.job] += units * static_cast<double>(run.end - run.start);
      lost_[run.job] += units * static_cast<double>(run.lost);
    }
    for (const double seconds : unit_seconds_) all_ += seconds;
  }

  Group Of(const std::string& by, const std::string& name, const std::vector<size_t>& rows) const {
    Group group;
    group.by = by;
    group.name = name;
    std::vector<int64_t> waits, jcts;
    for (const size_t i : rows) {
      const JobRecord& job = record_.jobs[i];
      ++group.jobs;
      group.refused += job.refused.empty() ? 0 : 1;
      group.never_started += job.refused.empty() && job.start < 0 ? 1 : 0;
      group.ended += job.ended() ? 1 : 0;
      group.evictions += job.evictions;
      group.starved += overtaking_.Starved(job, record_.until) ? 1 : 0;
      group.unit_hours += unit_seconds_[i] / 3600;
      group.lost_unit_hours += lost_[i] / 3600;
      if (job.start >= 0) waits.push_back(job.start - job.submit);
      if (job.ended()) jcts.push_back(job.end - job.submit);
    }
    group.wait = SpreadOf(std::move(waits));
    group.jct = SpreadOf(std::move(jcts));
    group.share = all_ > 0 ? group.unit_hours * 3600 / all_ : 0;
    return group;
  }

  std::vector<Group> By(const std::string& by,
                        const std::function<std::string(const JobRecord&)>& key) const {
    std::map<std::string, std::vector<size_t>> rows;
    for (size_t i = 0; i < record_.jobs.size(); ++i) rows[key(record_.jobs[i])].push_back(i);
    std::vector<Group> groups;
    for (const auto& [name, members] : rows) groups.push_back(Of(by, name, members));
    std::ranges::stable_sort(groups, std::greater<>(), &Group::unit_hours);
    return groups;
  }

 private:
  const Record& record_;
  const std::string& unit_;
  Overtaking overtaking_;
  std::vector<double> unit_seconds_, lost_;  // by job
  double all_ = 0;
};

// Of a tenant: which part of their jobs' time in the system was service. Jain's index of these.
double Fairness(const Record& record, const std::string& unit) {
  struct Time {
    double served = 0, spent = 0;
  };
  std::map<std::string, Time> tenants;
  for (const JobRecord& job : record.jobs) {
    if (!job.ended()) continue;
    Time& time = tenants[job.tenant];
    time.served += static_cast<double>(job.run) * UnitsOf(job, unit);
    time.spent += static_cast<double>(job.end - job.submit) * UnitsOf(job, unit);
  }
  double sum = 0, squares = 0;
  for (const auto& [name, time] : tenants) {
    const double part = time.spent > 0 ? time.served / time.spent : 1;
    sum += part;
    squares += part * part;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(tenants.size()) * squares) : 1;
}

std::vector<int64_t> Quantiles(const Record& record) {
  std::vector<int64_t> waits;
  for (const JobRecord& job : record.jobs) {
    if (job.start >= 0) waits.push_back(job.start - job.submit);
  }
  std::ranges::sort(waits);
  std::vector<int64_t> quantiles;
  constexpr size_t kParts = 200;
  for (size_t i = 0; i <= kParts && !waits.empty(); ++i) {
    quantiles.push_back(waits[i * (waits.size() - 1) / kParts]);
  }
  return quantiles;
}

}  // namespace

Report Measure(const Record& record) {
  Report report;
  report.name = record.name;
  const bool gpus = std::ranges::any_of(
      record.nodes, [](const Record::Node& node) { return node.capacity.gpu_milli > 0; });
  report.unit = gpus ? "GPU" : "CPU";
  for (const Record::Node& node : record.nodes) {
    report.capacity += UnitsOf(node.capacity, report.unit);
  }
  report.makespan = record.until;
  report.cycles = record.cycles;

  const Figures figures(record, report);
  std::vector<size_t> all(record.jobs.size());
  std::iota(all.begin(), all.end(), size_t{0});
  report.all = figures.Of("all", "all", all);
  const auto append = [&](std::vector<Group> more) {
    std::ranges::move(more, std::back_inserter(report.groups));
  };
  append(figures.By("tenant", [](const JobRecord& job) { return job.tenant; }));
  append(figures.By("class", [](const JobRecord& job) { return job.group; }));
  append(figures.By("size", [&](const JobRecord& job) {
    return SizeOf(static_cast<int64_t>(std::ceil(UnitsOf(job, report.unit))), report.unit);
  }));
  report.fairness = Fairness(record, report.unit);
  report.wait_quantiles = Quantiles(record);

  const Sweep sweep(record, report.unit);
  const Sweep::Means means = sweep.Until(LastStart(record));
  report.allocation = means.used;
  report.allocation_queued = means.used_while_queued;
  report.fragmentation = means.fragmented;
  report.curves = sweep.curves();
  return report;
}

}  // namespace cox::simulate

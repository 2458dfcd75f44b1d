#include "simulate/sweep.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace cox::simulate {
namespace {

constexpr size_t kShapes = 32;   // sizes of replicas that fragmentation is measured with
constexpr size_t kTenants = 11;  // curves of their own; the rest is "others"
constexpr int64_t kSteps = 500;  // of a curve

struct Shape {
  Resources need;
  double weight = 0;  // its part of all replicas
};

std::vector<Shape> CommonShapes(const Record& record) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> counts;
  for (const JobRecord& job : record.jobs) {
    counts[{job.need.gpu_milli, job.need.cpu_milli, job.need.mem_mib}] += job.replicas;
  }
  std::vector<Shape> shapes;
  double all = 0;
  for (const auto& [need, count] : counts) {
    const auto& [gpu, cpu, mem] = need;
    shapes.push_back({{cpu, mem, gpu}, static_cast<double>(count)});
  }
  std::ranges::stable_sort(shapes, std::greater<>(), &Shape::weight);
  if (shapes.size() > kShapes) shapes.resize(kShapes);
  for (const Shape& shape : shapes) all += shape.weight;
  for (Shape& shape : shapes) shape.weight /= all;
  return shapes;
}

// Free units of a node that a replica of the trace, drawn at random, could not use because it does
// not fit there.
double TooSmall(const Resources& free, const std::vector<Shape>& shapes, const std::string& unit) {
  double part = 0;
  for (const Shape& shape : shapes) {
    if (!shape.need.FitsIn(free)) part += shape.weight;
  }
  return part * UnitsOf(free, unit);
}

struct Change {
  int64_t at = 0;
  enum class What { kEnd, kStart, kQueue, kUnqueue } what = What::kEnd;
  size_t row = 0;  // of runs; kQueue, kUnqueue: of jobs
};

// When each job waited: from its submission or eviction to its next start.
std::vector<Change> Changes(const Record& record) {
  std::vector<Change> changes;
  std::vector<int64_t> waits_since(record.jobs.size());
  std::vector<bool> waits(record.jobs.size());
  const auto wait = [&](size_t job, int64_t from, int64_t to) {
    if (from >= to) return;
    changes.push_back({from, Change::What::kQueue, job});
    changes.push_back({to, Change::What::kUnqueue, job});
  };
  for (size_t i = 0; i < record.jobs.size(); ++i) {
    waits_since[i] = record.jobs[i].submit;
    waits[i] = record.jobs[i].refused.empty();
  }
  for (size_t i = 0; i < record.runs.size(); ++i) {
    const Run& run = record.runs[i];
    wait(run.job, waits_since[run.job], run.start);
    waits_since[run.job] = run.end;
    waits[run.job] = run.evicted && !record.jobs[run.job].ended();
    if (run.start >= run.end) continue;
    changes.push_back({run.start, Change::What::kStart, i});
    changes.push_back({run.end, Change::What::kEnd, i});
  }
  for (size_t i = 0; i < record.jobs.size(); ++i) {
    if (waits[i]) wait(i, waits_since[i], record.until);
  }
  std::ranges::sort(changes, {}, [](const Change& c) { return std::tuple(c.at, c.what, c.row); });
  return changes;
}

// Adds `weight` over [from, to) to the means of equal steps, in constant time.
class Steps {
 public:
  explicit Steps(int64_t step) : step_(step), parts_(kSteps + 2), jumps_(kSteps + 2) {}
  void Add(int64_t from, int64_t to, double weight) {
    const auto first = static_cast<size_t>(from / step_), last = static_cast<size_t>(to / step_);
    const auto seconds = [](int64_t s) { return static_cast<double>(s); };
    if (first == last) {
      parts_[first] += weight * seconds(to - from);
      return;
    }
    parts_[first] += weight * seconds((from / step_ + 1) * step_ - from);
    parts_[last] += weight * seconds(to % step_);
    jumps_[first + 1] += weight * seconds(step_);
    jumps_[last] -= weight * seconds(step_);
  }
  std::vector<double> Sums(size_t count) const {
    std::vector<double> sums(count);
    double whole = 0;
    for (size_t i = 0; i < count; ++i) {
      whole += jumps_[i];
      sums[i] = parts_[i] + whole;
    }
    return sums;
  }
  std::vector<double> Means(size_t count) const {
    std::vector<double> means = Sums(count);
    for (double& mean : means) mean /= static_cast<double>(step_);
    return means;
  }

 private:
  int64_t step_;
  std::vector<double> parts_, jumps_;
};

}  // namespace

double UnitsOf(const Resources& amount, const std::string& unit) {
  return static_cast<double>(unit == "GPU" ? amount.gpu_milli : amount.cpu_milli) / 1000;
}

double UnitsOf(const JobRecord& job, const std::string& unit) {
  return UnitsOf(job.need, unit) * static_cast<double>(job.replicas);
}

int64_t LastStart(const Record& record) {
  int64_t last = 0;
  for (const Run& run : record.runs) last = std::max(last, run.start);
  return last > 0 ? last : record.until;
}

Sweep::Sweep(const Record& record, const std::string& unit) : record_(record), unit_(unit) {
  for (const Record::Node& node : record.nodes) capacity_ += UnitsOf(node.capacity, unit);
  Walk();
}

void Sweep::Walk() {
  const std::vector<Shape> shapes = CommonShapes(record_);
  std::vector<Resources> free;
  std::vector<double> too_small;
  Stretch now;
  for (const Record::Node& node : record_.nodes) {
    free.push_back(node.capacity);
    too_small.push_back(TooSmall(node.capacity, shapes, unit_));
    now.free += UnitsOf(node.capacity, unit_);
    now.fragmented += too_small.back();
  }
  for (const Change& change : Changes(record_)) {
    if (change.at > now.from) {
      now.to = change.at;
      stretches_.push_back(now);
      now.from = change.at;
    }
    const bool more = change.what == Change::What::kStart || change.what == Change::What::kQueue;
    const int64_t sign = more ? 1 : -1;
    if (change.what == Change::What::kQueue || change.what == Change::What::kUnqueue) {
      now.queued += sign;
      now.queued_units += static_cast<double>(sign) * UnitsOf(record_.jobs[change.row], unit_);
      continue;
    }
    const Run& run = record_.runs[change.row];
    const Resources taken = record_.jobs[run.job].need * sign;
    for (const uint32_t node : run.nodes) {
      free[node] -= taken;
      now.used += UnitsOf(taken, unit_);
      now.free -= UnitsOf(taken, unit_);
      const double small = TooSmall(free[node], shapes, unit_);
      now.fragmented += small - std::exchange(too_small[node], small);
    }
  }
  now.to = record_.until;
  if (now.to > now.from) stretches_.push_back(now);
}

Sweep::Means Sweep::Until(int64_t second) const {
  double time = 0, queued_time = 0, used = 0, used_queued = 0, free = 0, fragmented = 0;
  for (const Stretch& s : stretches_) {
    const auto seconds = static_cast<double>(std::min(s.to, second) - s.from);
    if (seconds <= 0) break;
    time += seconds;
    used += s.used * seconds;
    if (s.queued == 0) continue;
    queued_time += seconds;
    used_queued += s.used * seconds;
    free += s.free * seconds;
    fragmented += s.fragmented * seconds;
  }
  Means means;
  if (capacity_ * time > 0) means.used = used / (capacity_ * time);
  if (capacity_ * queued_time > 0)
    means.used_while_queued = used_queued / (capacity_ * queued_time);
  if (free > 0) means.fragmented = fragmented / free;
  return means;
}

Curves Sweep::curves() const {
  Curves curves;
  curves.step = std::max<int64_t>(record_.until / kSteps + 1, 1);
  const auto count = static_cast<size_t>(record_.until / curves.step + 1);
  Steps used(curves.step), jobs(curves.step), units(curves.step), free(curves.step),
      fragmented(curves.step);
  for (const Stretch& s : stretches_) {
    used.Add(s.from, s.to, s.used);
    jobs.Add(s.from, s.to, static_cast<double>(s.queued));
    units.Add(s.from, s.to, s.queued_units);
    free.Add(s.from, s.to, s.free);
    fragmented.Add(s.from, s.to, s.fragmented);
  }
  curves.used = used.Means(count);
  curves.queued_jobs = jobs.Means(count);
  curves.queued_units = units.Means(count);
  const std::vector<double> room = free.Sums(count);
  curves.fragmented = fragmented.Sums(count);
  for (size_t i = 0; i < count; ++i) {
    curves.fragmented[i] =
        room[i] > 1e-6 ? std::clamp(curves.fragmented[i] / room[i], 0.0, 1.0) : 0;
  }

  std::map<std::string, double> size;
  for (const Run& run : record_.runs) {
    const JobRecord& job = record_.jobs[run.job];
    size[job.tenant] += UnitsOf(job, unit_) * static_cast<double>(run.end - run.start);
  }
  std::vector<std::pair<double, std::string>> largest;
  for (const auto& [name, units_seconds] : size) largest.emplace_back(-units_seconds, name);
  std::ranges::sort(largest);
  std::map<std::string, size_t> row;
  for (const auto& [minus, name] : largest) {
    if (curves.tenants.size() < kTenants) {
      curves.tenants.push_back(name);
    } else if (curves.tenants.size() == kTenants) {
      curves.tenants.emplace_back("others");
    }
    row[name] = curves.tenants.size() - 1;
  }
  std::vector<Steps> shares(curves.tenants.size(), Steps(curves.step));
  for (const Run& run : record_.runs) {
    const JobRecord& job = record_.jobs[run.job];
    shares[row[job.tenant]].Add(run.start, run.end, UnitsOf(job, unit_));
  }
  for (const Steps& share : shares) curves.shares.push_back(share.Means(count));
  return curves;
}

}  // namespace cox::simulate

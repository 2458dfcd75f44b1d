#include "exporter.hpp"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <cox/plugin.hpp>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace {

class LastSamples final : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override {
    const std::scoped_lock lock(mutex_);
    return families_;
  }
  void Set(std::vector<prometheus::MetricFamily> families) {
    const std::scoped_lock lock(mutex_);
    families_ = std::move(families);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<prometheus::MetricFamily> families_;
};

// Samples of one name become one family, wherever they stand in the list.
std::vector<prometheus::MetricFamily> Families(const cox_samples& samples) {
  std::vector<prometheus::MetricFamily> families;
  std::map<std::string, size_t, std::less<>> row;
  for (uint32_t s = 0; s < samples.count; ++s) {
    const std::string name(cox::Str(samples.name[s]));
    const auto [it, fresh] = row.emplace(name, families.size());
    if (fresh)
      families.push_back({name,
                          std::string(cox::Str(samples.help[s])),
                          samples.kind[s] == COX_COUNTER ? prometheus::MetricType::Counter
                                                         : prometheus::MetricType::Gauge,
                          {}});
    prometheus::MetricFamily& family = families[it->second];
    prometheus::ClientMetric metric;
    if (family.type == prometheus::MetricType::Counter)
      metric.counter.value = samples.value[s];
    else
      metric.gauge.value = samples.value[s];
    for (uint32_t l = samples.label_begin[s]; l < samples.label_begin[s + 1]; ++l)
      metric.label.push_back({std::string(cox::Str(samples.label_key[l])),
                              std::string(cox::Str(samples.label_value[l]))});
    family.metric.push_back(std::move(metric));
  }
  return families;
}

}  // namespace

struct Exporter::Server {
  Server(const std::string& address, int port) : exposer(address + ":" + std::to_string(port)) {
    exposer.RegisterCollectable(samples);
  }
  std::shared_ptr<LastSamples> samples = std::make_shared<LastSamples>();
  prometheus::Exposer exposer;
};

Exporter::Exporter(const std::string& address, int port) {
  try {
    server_ = std::make_unique<Server>(address, port);
  } catch (const std::exception& x) {
    throw std::runtime_error("cannot listen at " + address + ":" + std::to_string(port) + " (" +
                             x.what() + "); is the port in use?");
  }
}
Exporter::~Exporter() = default;

int Exporter::port() const {
  const std::vector<int> ports = server_->exposer.GetListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

void Exporter::Set(const cox_samples& samples) {
  server_->samples->Set(Families(samples));
}

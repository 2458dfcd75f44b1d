// Metrics leave here: an endpoint for Prometheus, and the jobs' own endpoints as its targets.
#include <cox/plugin.hpp>
#include <optional>
#include <string>

#include "exporter.hpp"
#include "schema.hpp"
#include "targets_file.hpp"

namespace {

class MonitorPrometheus final : public cox::Monitor {
 public:
  explicit MonitorPrometheus(const cox::Config& config)
      : host_(config),
        address_(config.Str("address")),
        port_(static_cast<int>(config.Int("port"))) {
    if (!config.Str("targets_file").empty())
      targets_.emplace(std::string(config.Str("targets_file")));
  }

  void Observe(const cox_samples& samples, const cox_targets& targets) override {
    if (targets_) targets_->Write(targets);
    // Not in the constructor: a reload makes the new instance while the old one has the port.
    if (!exporter_) {
      exporter_.emplace(address_, port_);
      host_.Info("metrics at http://" + address_ + ":" + std::to_string(exporter_->port()) +
                 "/metrics");
    }
    exporter_->Set(samples);
  }

 private:
  const cox::Host host_;
  const std::string address_;
  const int port_;
  std::optional<TargetsFile> targets_;
  std::optional<Exporter> exporter_;
};

}  // namespace

COX_PLUGIN(MonitorPrometheus, "io.coxswain.monitor-prometheus", "1.0.0",
           "metrics endpoint for Prometheus and scrape targets of running jobs", kSchema)

// A node as the batch system reports it.
#pragma once

#include <string>
#include <vector>

#include "base/resources.hpp"
#include "base/time.hpp"

namespace cox::model {

struct Node {
  std::string name;
  std::string address;             // what a rank can reach
  std::vector<std::string> pools;  // names of the site's pools it belongs to
  std::string gpu_type;            // "" = no GPU
  Resources capacity;              // that jobs may use at all
  Resources unmanaged;  // used by jobs that are not ours: seen and counted, never touched
  bool ready = true;
  std::string not_ready_reason;  // "drained: XID 79 (root)"
  TimePoint ready_since{};

  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace cox::model

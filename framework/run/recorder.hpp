// What each cycle saw and decided, as JSON lines, so that any decision of a production system can
// be made again (adapters/replay; decision 0043). A line of kind "site" holds the site file's text
// and precedes the first cycle that used it; a line of kind "cycle" holds snapshot and decision.
//
// Owner: the loop; decision thread. A recorder that cannot write counts what it drops and never
// stops the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "model/decision.hpp"
#include "model/snapshot.hpp"
#include "run/config.hpp"

namespace cox::run {

class Recorder {
 public:
  // Appends to `file`; stops for good once it has `max_bytes`. Records hold names and node states,
  // no environment variables and no commands. Mode 0600.
  static Result<std::unique_ptr<Recorder>> Open(const std::string& file, uint64_t max_bytes);
  ~Recorder();

  void Record(const Config& config, const model::Snapshot& snapshot,
              const model::Decision& decision);
  uint64_t dropped() const { return dropped_; }

 private:
  Recorder(int fd, uint64_t room) : fd_(fd), room_(room) {}
  bool Write(const std::string& line);

  int fd_;
  uint64_t room_;
  std::shared_ptr<const spec::Site> recorded_site_;
  uint64_t dropped_ = 0;
};

// The decision about a recorded snapshot, made with `config`.
model::Decision DecideAgain(const Config& config, const model::Snapshot& snapshot);

}  // namespace cox::run

// What each verb of the control socket answers (control.hpp has the list). Reads are functions of
// the last Published; writes become requests to the loop. Internal to run/.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "run/authorize.hpp"
#include "run/control.hpp"
#include "run/inbox.hpp"
#include "run/json.hpp"
#include "run/published.hpp"
#include "run/store.hpp"

namespace cox::run {

using Reply = std::function<void(Result<Json>)>;  // any thread; called once

struct Desk {  // all that answering one request needs
  const Published& now_known;
  const Peer& peer;
  const Json& args;
  const ControlOptions& options;
  const Loop& loop;
  TimePoint now{};
};

// The answer; or, for a write, the request to pass to the loop, which then calls `reply`.
std::variant<Result<Json>, Request> Serve(const std::string& verb, const Desk& desk, Reply reply);

}  // namespace cox::run

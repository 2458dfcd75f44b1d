// What every verb gets: where to print, whom to ask, which clock and time zone.
// Made once by main(); a test makes its own. Single thread.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "tools/cox/arguments.hpp"
#include "tools/cox/value.hpp"

namespace cox::cli {

struct Context {
  std::ostream* out = nullptr;
  std::ostream* err = nullptr;
  bool colour = false;    // of what goes to `out`
  bool progress = false;  // `err` is a terminal: somebody watches
  const Clock* clock = nullptr;
  // The daemon at `socket`: one request line, one reply line (run/control.hpp).
  std::string socket;
  std::function<Result<std::string>(const std::string& socket, const std::string& request)> call;
  std::function<Result<std::string>(const std::string& path)> read_file;  // "-" = standard input
  std::function<void(Duration)> wait;                                     // between two looks of -f

  // Asks the daemon. An error has the daemon's own code.
  Result<Value> Ask(const std::string& verb, Value::Fields args) const;

  // Prints `error` and says which exit code it means.
  int Fail(const Error& error) const;

  // `-o json|yaml` prints the value itself and is done; tables are up to the verb.
  bool Printed(const Arguments& args, const Value& value) const;
};

}  // namespace cox::cli

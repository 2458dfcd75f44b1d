// A Context whose daemon answers from a table: verb -> reply. Keeps what it was asked.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cox/verbs.hpp"

namespace cox::cli {

class StoppedClock final : public Clock {
 public:
  TimePoint Now() const override { return FromSeconds(1'796'119'509); }  // 2026-12-01 10:05:09 UTC
};

class FakeDaemon {
 public:
  FakeDaemon() { setenv("TZ", "UTC", 1); }

  FakeDaemon& Answers(const std::string& verb, const std::string& result) {
    replies_[verb].push_back(R"({"ok": true, "result": )" + result + "}");
    return *this;
  }
  FakeDaemon& Refuses(const std::string& verb, const std::string& code, const std::string& text) {
    replies_[verb].push_back(R"({"ok": false, "code": ")" + code + R"(", "text": ")" + text +
                             R"("})");
    return *this;
  }
  FakeDaemon& File(const std::string& path, const std::string& text) {
    files_[path] = text;
    return *this;
  }

  // Runs `cox words...`; several answers to one verb are given in turn, the last one for ever.
  int Cox(const std::vector<std::string>& words) {
    out.str("");
    err.str("");
    Context context;
    context.out = &out;
    context.err = &err;
    context.progress = progress;
    context.clock = &clock_;
    context.call = [this](const std::string&, const std::string& request) {
      return Reply(request);
    };
    context.read_file = [this](const std::string& path) -> Result<std::string> {
      const auto file = files_.find(path);
      if (file == files_.end()) return NotFound(path + ": cannot be opened");
      return file->second;
    };
    context.wait = [this](Duration) { ++waits; };
    return Run(std::move(context), words);
  }

  std::ostringstream out, err;
  std::vector<std::string> requests;
  int waits = 0;
  bool progress = false;

 private:
  Result<std::string> Reply(const std::string& request) {
    requests.push_back(request);
    auto& replies = replies_[(*Value::Parse(request))["verb"].text()];
    if (replies.empty()) return Unavailable("/nowhere: nobody listens");
    const std::string reply = replies.front();
    if (replies.size() > 1) replies.erase(replies.begin());
    return reply;
  }

  StoppedClock clock_;
  std::map<std::string, std::vector<std::string>> replies_;
  std::map<std::string, std::string> files_;
};

}  // namespace cox::cli

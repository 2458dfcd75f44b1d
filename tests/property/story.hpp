// Random stories for the whole loop: jobs, what happens to the cluster, and what goes wrong between
// the loop and the batch system. Data only, so that a story that fails can be made smaller.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "property/random_world.hpp"

namespace cox::test {

struct Story {
  // What becomes of the n-th order; later ones are carried out and answered.
  enum class Order {
    kFine,
    kLost,   // never arrives, no answer
    kMute,   // carried out, its answer is lost
    kTwice,  // carried out twice, two answers
    kEcho,   // its answer comes twice
    kLate,   // its answer comes after 40 s, or after 90 s: then the loop has tried again
    kVeryLate,
    kAway,      // not carried out: Unavailable
    kLiar,      // carried out, yet the answer is Unavailable
    kConflict,  // not carried out: Conflict (a start; other orders are just lost)
  };
  // Of the n-th report about a job.
  enum class Report { kFine, kLost, kTwice };
  // The scheduler dies once it has sent `orders` more orders after `at`: between what it has saved
  // and what it has said. -1: at once, with all that it has not read yet.
  struct Crash {
    int64_t at = 0;
    int64_t orders = 0, away = 0;
  };

  int64_t nodes = 1;
  std::vector<std::string> jobs, events;  // lines of a scenario file; down and up are one
  std::vector<Order> orders;
  std::vector<Report> reports;
  std::vector<Crash> crashes;

  std::string Text() const {
    std::string text = "nodes: [{name: 'n[1-" + std::to_string(nodes) + "]'}]\njobs:\n";
    for (const std::string& line : jobs) text += "- " + line + "\n";
    if (!events.empty()) text += "events:\n";
    for (const std::string& line : events) text += "- " + line + "\n";
    return text;
  }
  // With what a scenario file cannot say.
  std::string Whole() const {
    std::string text = Text();
    const auto list = [&](const char* what, const auto& fates) {
      for (size_t i = 0; i < fates.size(); ++i) {
        if (static_cast<int>(fates[i]) == 0) continue;
        text += std::string("# ") + what + " " + std::to_string(i) + ": fate " +
                std::to_string(static_cast<int>(fates[i])) + "\n";
      }
    };
    list("order", orders);
    list("report", reports);
    for (const Crash& c : crashes) {
      text += "# dies after " + std::to_string(c.orders) + " orders from " + std::to_string(c.at) +
              " on, for " + std::to_string(c.away) + " s\n";
    }
    return text;
  }
};

inline Story RandomStory(uint64_t seed) {
  Dice dice(seed);
  Story story;
  story.nodes = 1 + dice.Below(3);
  const int64_t jobs = 2 + dice.Below(6);
  const auto number = [&](int64_t from, int64_t below) {
    return std::to_string(from + dice.Below(below - from));
  };
  const auto job = [&] { return "j" + std::to_string(dice.Below(jobs)); };
  const auto node = [&] { return "n" + std::to_string(1 + dice.Below(story.nodes)); };
  for (int64_t j = 0; j < jobs; ++j) {
    static constexpr const char* kCapacities[] = {"reserved", "reserved", "on-demand", "spot",
                                                  "idle"};
    static constexpr const char* kPriorities[] = {"low", "medium", "high"};
    const std::string capacity = kCapacities[dice.Below(5)];
    std::string line = "{id: j" + std::to_string(j) + ", at: " + number(0, 40) +
                       ", run: " + number(5, 60) + ", capacity: " + capacity;
    line += ", size: " + std::to_string(1 + dice.Below(story.nodes)) + "x" + number(1, 9);
    if (capacity == "reserved" || capacity == "on-demand") {
      line += std::string(", priority: ") + kPriorities[dice.Below(3)];
    }
    if (dice.One(2)) line += ", grace: " + number(1, 20);
    if (dice.One(2)) line += ", retries: " + number(1, 4);
    if (dice.One(5)) line += ", exit: 1";
    if (dice.One(4)) line += ", wall: unknown";
    story.jobs.push_back(line + "}");
  }
  for (int64_t e = dice.Below(5); e > 0; --e) {
    const std::string at = "{at: " + number(1, 120);
    switch (dice.Below(5)) {
      case 0:
        story.events.push_back(at + ", cancel: " + job() + "}");
        break;
      case 1: {
        const std::string down = node();
        const int64_t from = 1 + dice.Below(90);
        story.events.push_back("{at: " + std::to_string(from) + ", down: " + down + "}\n- {at: " +
                               std::to_string(from + 10 + dice.Below(50)) + ", up: " + down + "}");
        break;
      }
      case 2:
        story.events.push_back(at + ", again: " + job() + "}");
        break;
      case 3:
        story.events.push_back(at + ", end: " + job() + ", cause: runtime}");
        break;
      default:
        story.events.push_back(at + ", resync: true}");
    }
  }
  for (int i = 0; i < 60; ++i) {
    story.orders.push_back(dice.One(3) ? static_cast<Story::Order>(dice.Below(10))
                                       : Story::Order::kFine);
    story.reports.push_back(dice.One(4) ? static_cast<Story::Report>(dice.Below(3))
                                        : Story::Report::kFine);
  }
  for (int64_t c = dice.Below(5); c > 0; --c) {
    story.crashes.push_back({dice.Below(150), dice.Below(4) - 1, dice.Below(3) * dice.Below(40)});
  }
  std::ranges::sort(story.crashes, {}, &Story::Crash::at);
  return story;
}

// Each story with something less in it; the large steps first.
inline std::vector<Story> Smaller(const Story& story) {
  std::vector<Story> all;
  const auto without = [&](auto member) {
    for (size_t i = 0; i < (story.*member).size(); ++i) {
      Story less = story;
      (less.*member).erase((less.*member).begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back(std::move(less));
    }
  };
  without(&Story::crashes);
  without(&Story::events);
  without(&Story::jobs);
  for (size_t i = 0; i < story.orders.size(); ++i) {
    if (story.orders[i] == Story::Order::kFine) continue;
    all.push_back(story);
    all.back().orders[i] = Story::Order::kFine;
  }
  for (size_t i = 0; i < story.reports.size(); ++i) {
    if (story.reports[i] == Story::Report::kFine) continue;
    all.push_back(story);
    all.back().reports[i] = Story::Report::kFine;
  }
  return all;
}

}  // namespace cox::test

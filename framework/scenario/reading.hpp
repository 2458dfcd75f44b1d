// What the parts of the parser share. Internal to scenario/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "scenario/parse.hpp"
#include "spec/document.hpp"

namespace cox::scenario {

using nlohmann::json;
using spec::Place;

// A value that the schema has accepted, where it stands, and how it is called in messages.
struct Item {
  const json* value = nullptr;
  const Place* place = nullptr;  // of a default: an empty one
  int64_t line = 0;              // of a default: of what it belongs to
  std::string path;

  bool has(const char* key) const { return value->contains(key); }
  // Did the author write it himself? Defaults have no place.
  bool written(const char* key) const { return place->members.contains(key); }
  const json& operator[](const char* key) const { return value->at(key); }
  Item At(const std::string& key) const;
  Item At(size_t index) const;
};

// Collects complaints, each with its line; the file is good when there are none.
class Complaints {
 public:
  explicit Complaints(std::string file) : file_(std::move(file)) {}
  void Add(const Item& at, const std::string& what);
  void Add(const Error& error) { lines_.emplace_back(0, error.text); }
  bool empty() const { return lines_.empty(); }
  Error Text();

 private:
  std::string file_;
  std::vector<std::pair<int64_t, std::string>> lines_;
};

// site.cpp: the text of a whole site file, from the parts that the scenario gives.
struct SiteText {
  std::string text, position;
};
Result<SiteText> CompleteSite(const Item& root, const std::string& file, const ReadFile& read_file);
// The same with some parts replaced, for `reload`.
Result<SiteText> ChangeSite(const SiteText& site, const Item& changes);

// job.cpp
struct JobReader {
  const spec::Site& site;
  const std::string& file;
  Complaints& complaints;
  void Read(const Item& item, const Item* defaults, std::vector<Job>& jobs) const;
};

// expect.cpp
Expectation ReadExpectation(const Item& item, const Scenario& scenario, Complaints& complaints);

// Gives places to what has none, on the line of what it was put into: TextOf() wants them.
void Locate(const json& value, Place& place);

// "n[1-3],n7" -> its names; a complaint when that is no range.
std::vector<std::string> Names(const Item& at, const std::string& text, Complaints& complaints);
// Complains when no job has this id.
void MustBeAJob(const Item& at, const std::string& id, const std::vector<Job>& jobs,
                Complaints& complaints);

}  // namespace cox::scenario

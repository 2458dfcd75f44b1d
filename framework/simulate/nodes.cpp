#include "simulate/nodes.hpp"

#include <charconv>
#include <set>

#include "simulate/readers.hpp"

namespace cox::simulate {
namespace {

constexpr int64_t kMostNodes = 200'000;

// "16x8:h100"; false when it is none of these.
bool ReadShort(std::string_view text, const std::string& pool, std::vector<model::Node>& nodes) {
  int64_t count = 0, gpus = 0;
  const char* const end = text.data() + text.size();
  auto [x, bad_count] = std::from_chars(text.data(), end, count);
  if (bad_count != std::errc{} || x == end || *x != 'x') return false;
  auto [rest, bad_gpus] = std::from_chars(x + 1, end, gpus);
  if (bad_gpus != std::errc{} || (rest != end && *rest != ':')) return false;
  if (count < 1 || gpus < 0 || gpus > 1024) return false;
  if (count + static_cast<int64_t>(nodes.size()) > kMostNodes) return false;
  for (int64_t i = 0; i < count; ++i) {
    model::Node node;
    node.name = "n" + std::to_string(nodes.size() + 1);
    node.capacity = {256'000, 4 << 20, gpus * 1000};
    if (gpus > 0) node.gpu_type = rest == end ? "gpu" : std::string(rest + 1, end);
    if (!pool.empty()) node.pools = {pool};
    nodes.push_back(std::move(node));
  }
  return true;
}

Result<void> ReadList(const std::string& file, const std::string& pool,
                      const scenario::ReadFile& read_file, std::vector<model::Node>& nodes) {
  const auto text = read_file(file);
  if (!text) {
    return InvalidArgument("--nodes " + file +
                           ": is neither like 16x8 nor a list: " + text.error().text);
  }
  const auto table = Csv::Parse(*text, file, {});
  if (!table) return table.error();
  LeftOut left_out(file);
  Rows rows(*table, left_out);
  Workload complaints;
  const std::string name = table->Column("sn") ? "sn" : "name";
  while (rows.Next()) {
    model::Node node;
    node.name = rows.Text(name);
    node.capacity = {rows.Whole("cpu_milli"), rows.Whole("memory_mib"), rows.Whole("gpu") * 1000};
    node.gpu_type = rows.Text("model");
    if (node.gpu_type.empty() && node.capacity.gpu_milli > 0) node.gpu_type = "gpu";
    if (!pool.empty()) node.pools = {pool};
    if (node.name.empty()) rows.Spoil("has no " + name);
    if (rows.good()) nodes.push_back(std::move(node));
  }
  left_out.Tell(complaints);
  if (!complaints.notes.empty()) return InvalidArgument(complaints.notes.front());
  return {};
}

}  // namespace

Result<std::vector<model::Node>> ReadNodes(const std::vector<std::string>& words,
                                           const scenario::ReadFile& read_file) {
  std::vector<model::Node> nodes;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    const std::string pool = equals == word.npos ? "" : word.substr(0, equals);
    const std::string what = equals == word.npos ? word : word.substr(equals + 1);
    if (ReadShort(what, pool, nodes)) continue;
    if (auto read = ReadList(what, pool, read_file, nodes); !read) return read.error();
  }
  std::set<std::string> names;
  for (const model::Node& node : nodes) {
    if (!names.insert(node.name).second) {
      return InvalidArgument("--nodes: two nodes are called " + node.name);
    }
  }
  return nodes;
}

}  // namespace cox::simulate

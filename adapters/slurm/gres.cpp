#include "slurm/gres.hpp"

#include <charconv>
#include <vector>

namespace cox::slurm {
namespace {

constexpr int64_t kMostGpus = 1'000'000'000;  // sums of these fit

// At commas, but not at those inside "(IDX:0,2)".
std::vector<std::string_view> Items(std::string_view gres) {
  std::vector<std::string_view> items;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= gres.size(); ++i) {
    if (i == gres.size() || (gres[i] == ',' && depth == 0)) {
      items.push_back(gres.substr(begin, i - begin));
      begin = i + 1;
    } else {
      depth += gres[i] == '(' ? 1 : gres[i] == ')' ? -1 : 0;
    }
  }
  return items;
}

bool ParseCount(std::string_view text, int64_t& count) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  return error == std::errc() && rest == end;
}

// "gpu", "gpu:8", "gpu:h100", "gpu:h100:8".
bool ParseItem(std::string_view item, Gpus& gpus) {
  if (item.starts_with("gres:")) item.remove_prefix(5);
  item = item.substr(0, item.find('('));
  if (item != "gpu" && !item.starts_with("gpu:")) return false;
  item.remove_prefix(item.size() > 3 ? 4 : 3);
  const size_t colon = item.rfind(':');
  const std::string_view last = colon == item.npos ? item : item.substr(colon + 1);
  gpus.count = 1;
  if (ParseCount(last, gpus.count)) item = item.substr(0, colon == item.npos ? 0 : colon);
  gpus.type = item;
  return true;
}

}  // namespace

Gpus ParseGpus(std::string_view gres) {
  Gpus total;
  for (const std::string_view text : Items(gres)) {
    Gpus one;
    if (!ParseItem(text, one) || one.count == 0) continue;
    if (one.count < 0 || one.count > kMostGpus) return {-1, ""};
    total.type = total.count == 0 || total.type == one.type ? one.type : "";
    total.count += one.count;
  }
  return total;
}

std::string OtherThanGpus(std::string_view gres) {
  for (const std::string_view item : Items(gres)) {
    Gpus gpus;
    if (!item.empty() && !ParseItem(item, gpus)) return std::string(item);
  }
  return "";
}

std::string GresRequest(const Gpus& gpus) {
  if (gpus.count <= 0) return "";
  return "gres:gpu:" + (gpus.type.empty() ? "" : gpus.type + ":") + std::to_string(gpus.count);
}

}  // namespace cox::slurm

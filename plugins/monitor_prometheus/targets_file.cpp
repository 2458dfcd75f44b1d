#include "targets_file.hpp"

#include <cerrno>
#include <cox/plugin.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string_view>

namespace {

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string TargetsJson(const cox_targets& targets) {
  std::string out = "[";
  for (uint32_t t = 0; t < targets.count; ++t) {
    out += t == 0 ? "\n" : ",\n";
    out += "  {\"targets\": [" + Quoted(cox::Str(targets.address[t])) +
           "], \"labels\": {\"__metrics_path__\": " + Quoted(cox::Str(targets.path[t]));
    for (uint32_t l = targets.label_begin[t]; l < targets.label_begin[t + 1]; ++l)
      out += ", " + Quoted(cox::Str(targets.label_key[l])) + ": " +
             Quoted(cox::Str(targets.label_value[l]));
    out += "}}";
  }
  return out + (targets.count == 0 ? "]\n" : "\n]\n");
}

void TargetsFile::Write(const cox_targets& targets) {
  std::string text = TargetsJson(targets);
  if (text == written_) return;
  const std::string fresh = path_ + ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(fresh.c_str(), path_.c_str()) != 0)
    throw std::runtime_error("targets_file: cannot write " + path_ + " (" + std::strerror(errno) +
                             "); its directory must exist and be writable");
  written_ = std::move(text);
}

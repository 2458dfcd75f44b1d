#include "lifecycle/uuid.hpp"

#include <uuid/uuid.h>

namespace cox::lifecycle {
namespace {

std::string Text(const uuid_t& uuid) {
  char text[UUID_STR_LEN];
  uuid_unparse_lower(uuid, text);
  return text;
}

}  // namespace

std::string NewUuid() {
  uuid_t uuid;
  uuid_generate_random(uuid);
  return Text(uuid);
}

std::string AttemptUuid(const std::string& root, int64_t attempt) {
  if (attempt == 0) return root;
  uuid_t space, uuid;
  if (uuid_parse(root.c_str(), space) != 0) return root + "-" + std::to_string(attempt);
  const std::string count = std::to_string(attempt);
  uuid_generate_sha1(uuid, space, count.data(), count.size());
  return Text(uuid);
}

}  // namespace cox::lifecycle

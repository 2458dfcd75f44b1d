#include "base/account.hpp"

#include <pwd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace cox {
namespace {

constexpr size_t kLargestEntry = 1 << 20;

// `look` is getpwuid_r or getpwnam_r on its key.
template <class Look>
Result<Account> Find(const std::string& who, const Look& look) {
  std::vector<char> buffer(16384);
  for (;;) {
    passwd entry{};
    passwd* found = nullptr;
    const int error = look(&entry, buffer.data(), buffer.size(), &found);
    if (found != nullptr) return Account{entry.pw_uid, entry.pw_gid, entry.pw_name, entry.pw_dir};
    switch (error) {
      case ERANGE:
        if (buffer.size() >= kLargestEntry) return Unavailable(who + ": entry is too long");
        buffer.resize(buffer.size() * 2);
        continue;
      case EINTR:
        continue;
      case 0:
      case ENOENT:
      case ESRCH:
        return NotFound(who + ": this host has no such account");
      default:
        return Unavailable(who + ": looking the account up: " + std::strerror(error));
    }
  }
}

}  // namespace

Result<Account> FindAccount(uid_t uid) {
  return Find("uid " + std::to_string(uid),
              [&](auto... rest) { return ::getpwuid_r(uid, rest...); });
}

Result<Account> FindAccount(const std::string& name) {
  return Find("user " + name, [&](auto... rest) { return ::getpwnam_r(name.c_str(), rest...); });
}

}  // namespace cox

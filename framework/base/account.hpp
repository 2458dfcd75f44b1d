// Who a user of this host is, from its password database or directory service. A look-up may wait
// for a network; callers that look often keep what they found. Any thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"

namespace cox {

struct Account {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name, home;
};

// NotFound: this host knows no such user. Unavailable: who could tell does not answer.
Result<Account> FindAccount(uid_t uid);
Result<Account> FindAccount(const std::string& name);

}  // namespace cox

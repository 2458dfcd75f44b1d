// Who may see and do what over the control socket. Pure; the peer's name comes from the kernel.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/ledger.hpp"
#include "model/task.hpp"
#include "spec/site.hpp"
#include "spec/validate.hpp"

namespace cox::run {

struct Peer {
  spec::Submitter who;                // tenant, org and project are empty for a user the site does
  std::vector<std::string> projects;  // not know: he sees nothing of anybody's
};

// `privileged`: root, or the user that the daemon runs as; an administrator whatever the site says.
Peer PeerOf(const spec::Site& site, const std::string& user, bool privileged);

// S5: the owner, administrators, and the project's members where the job is public in the project.
bool MaySee(const Peer& peer, const model::Task& task);
// S13: hidden values are the owner's alone.
bool MaySeeHidden(const Peer& peer, const model::Task& task);
// S118, D20: the owner and administrators.
bool MayStop(const Peer& peer, const model::Task& task);
// S40: one's own rows, those of one's projects and of one's tenant.
bool MaySee(const Peer& peer, const model::LedgerKey& row);
// S77: one's own, and the tenant's unexpired ones.
bool MaySee(const Peer& peer, const spec::NodePolicy& policy, TimePoint now);
// S75: a tenant's policy is an administrator's.
bool MayDelete(const Peer& peer, const spec::NodePolicy& policy);

}  // namespace cox::run

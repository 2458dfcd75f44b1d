#include "run/authorize.hpp"

#include <algorithm>

namespace cox::run {
namespace {

bool IsIn(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Peer PeerOf(const spec::Site& site, const std::string& user, bool privileged) {
  Peer peer;
  if (auto known = spec::Resolve(site, user, "")) peer.who = *std::move(known);
  peer.who.user = user;
  peer.who.admin = peer.who.admin || privileged;
  if (const spec::User* listed = site.FindUser(user)) peer.projects = listed->projects;
  if (!peer.who.project.empty() && !IsIn(peer.projects, peer.who.project)) {
    peer.projects.push_back(peer.who.project);
  }
  return peer;
}

bool MaySee(const Peer& peer, const model::Task& task) {
  if (peer.who.admin || peer.who.user == task.owner.user) return true;
  return task.job->visibility == spec::Visibility::kProject && !task.owner.project.empty() &&
         IsIn(peer.projects, task.owner.project);
}

bool MaySeeHidden(const Peer& peer, const model::Task& task) {
  return peer.who.user == task.owner.user;
}

bool MayStop(const Peer& peer, const model::Task& task) {
  return peer.who.admin || peer.who.user == task.owner.user;
}

bool MaySee(const Peer& peer, const model::LedgerKey& row) {
  if (peer.who.admin) return true;
  switch (row.level) {
    case spec::QuotaLevel::kTenant:
      return row.subject == peer.who.tenant;
    case spec::QuotaLevel::kProject:
      return IsIn(peer.projects, row.subject);
    case spec::QuotaLevel::kUser:
      return row.subject == peer.who.user;
  }
  return false;
}

bool MaySee(const Peer& peer, const spec::NodePolicy& policy, TimePoint now) {
  if (peer.who.admin) return true;
  if (!policy.tenant_scope) return policy.subject == peer.who.user;
  return policy.subject == peer.who.tenant && now < policy.expires_at;
}

bool MayDelete(const Peer& peer, const spec::NodePolicy& policy) {
  if (peer.who.admin) return true;
  return !policy.tenant_scope && policy.subject == peer.who.user;
}

}  // namespace cox::run

#include "spec/site.hpp"

#include <algorithm>

namespace cox::spec {
namespace {

template <class T>
const T* FindByName(const std::vector<T>& list, const std::string& name) {
  const auto it =
      std::find_if(list.begin(), list.end(), [&](const T& t) { return t.name == name; });
  return it == list.end() ? nullptr : &*it;
}

}  // namespace

const Pool* Site::FindPool(const std::string& name) const {
  return FindByName(pools, name);
}

const Flavor* Site::FindFlavor(const std::string& name) const {
  return FindByName(flavors, name);
}

const User* Site::FindUser(const std::string& name) const {
  return FindByName(users, name);
}

const TopologyLevel* Site::FindTopologyLevel(const std::string& level) const {
  const auto it = std::ranges::find(topology, level, &TopologyLevel::level);
  return it == topology.end() ? nullptr : &*it;
}

const Volume* Site::FindVolume(const std::string& name_or_id) const {
  if (const Volume* volume = FindByName(volumes, name_or_id)) return volume;
  const auto it = std::find_if(volumes.begin(), volumes.end(), [&](const Volume& volume) {
    return !volume.id.empty() && volume.id == name_or_id;
  });
  return it == volumes.end() ? nullptr : &*it;
}

}  // namespace cox::spec

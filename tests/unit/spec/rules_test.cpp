// Scenario 0 of the contract: every accept and every reject row of 1.1-1.3, matrix 3.2 and the
// table of rulings, as far as a job's text decides. Cited by tests/rules by the name of the row.
#include <gmock/gmock.h>

#include "unit/spec/samples.hpp"

namespace cox::spec {
namespace {

using J = nlohmann::json;

struct Row {
  std::string name;
  Changes changes;
  Lines errors = {};  // none = accepted
  std::string user = "alice";
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

Changes Idle(const Changes& more = {}) {
  Changes changes = {{"/spec/scheduling/capacityType", "idle"},
                     {"/spec/scheduling/queue", Nothing()}};
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

Changes Spot(const Changes& more = {}) {
  Changes changes = Idle(more);
  changes[0].value = "spot";
  return changes;
}

Changes OnDemand(const Changes& more = {}) {
  Changes changes = Idle(more);
  changes[0].value = "on-demand";
  return changes;
}

Changes RayJob(const Changes& more = {}) {
  Changes changes = {{"/spec/type", "RayJob"}};
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

Changes Env(const std::string& name) {
  return {{"/spec/env", J::array({{{"name", name}, {"value", "x"}}})}};
}

Changes MountAt(const std::string& path) {
  return {{"/spec/volumeMounts", J::array({{{"volume", "vol-a"}, {"mountPath", path}}})}};
}

Changes MountOf(const std::string& volume) {
  return {{"/spec/volumeMounts", J::array({{{"volume", volume}, {"mountPath", "/volume/x"}}})}};
}

Changes Flavors(const J& flavors) {
  return {{"/spec/scheduling/flavors", flavors}};
}

Changes NodePolicyIs(const J& policy) {
  return {{"/spec/scheduling/nodePolicy", policy}};
}

Changes Scaling(const J& scaling, int workers) {
  return RayJob({{"/spec/ray/autoscaling", scaling}, {"/spec/replicas/workers", workers}});
}

Changes FailureRules(const J& rules) {
  return {{"/spec/failurePolicy/rules", rules}, {"/spec/failurePolicy/policy", "ExitCodeAndLog"}};
}

const std::string kIn = "job:1: ";
const std::string kPrefixForm =
    " is not a name prefix; use lowercase letters, digits and '-', begin with a letter or digit, "
    "end with at most one '-' (S3)";
const std::string kEnvForm =
    " is not the name of a variable; use letters, digits and '_', and no digit in front (S12)";
const std::string kPathForm =
    " is not a mount path; write an absolute one such as /volume/a, without '..', ':' and ',' "
    "(S17)";
const std::string kLabelForm =
    "; use up to 63 letters, digits, '-', '_' and '.', a letter or digit at both ends (S113)";

std::vector<Row> Identity() {
  const std::string name = "metadata.generateName: ";
  return {
      {"S1_OwnRegionAndClusterAreAccepted",
       {{"/spec/region", "cn-shanghai"}, {"/spec/cluster", "auriga"}}},
      {"S1_AnotherRegionIsRejected",
       {{"/spec/region", "us-east"}},
       {"spec.region: \"us-east\" is not the region of this site, \"cn-shanghai\" (S1)"}},
      {"S1_AnotherClusterIsRejected",
       {{"/spec/cluster", "orion"}},
       {"spec.cluster: \"orion\" is not the cluster of this site, \"auriga\" (S1)"}},
      {"S1_APoolOfAnotherClusterIsRejected",
       {{"/spec/scheduling/queue", "far-away"}},
       {"spec.scheduling.queue: pool \"far-away\" is in cluster \"orion\", the job runs in "
        "\"auriga\" (S1)"}},
      {"S1_AVolumeOfAnotherClusterIsRejected",
       MountOf("vol-far"),
       {"spec.volumeMounts[0].volume: volume \"vol-far\" is in cluster \"orion\", the job runs in "
        "\"auriga\" (S1)"}},
      {"S1_SharedStorageOfAnotherClusterIsRejected",
       RayJob({{"/spec/ray/sharedStorage/volume", "vol-far"}}),
       {"spec.ray.sharedStorage.volume: volume \"vol-far\" is in cluster \"orion\", the job runs "
        "in "
        "\"auriga\" (S1)"}},
      {"S2_AnOwnProjectIsAccepted", {{"/metadata/project", "speech"}}},
      {"S2_AStrangeProjectIsRejected",
       {{"/metadata/project", "secret"}},
       {"user \"alice\" has no project \"secret\"; has: nlp, speech (S2)"}},
      {"S3_APrefixWithADashAtItsEndIsAccepted", {{"/metadata/generateName", "llama-7b-"}}},
      {"S3_APrefixWithoutADashIsAccepted", {{"/metadata/generateName", "7b"}}},
      {"S3_FortyFourCharactersAreAccepted", {{"/metadata/generateName", std::string(44, 'a')}}},
      {"S3_FortyFiveCharactersAreRejected",
       {{"/metadata/generateName", std::string(45, 'a')}},
       {name + "\"" + std::string(45, 'a') + "\" has 45 characters; at most 44 (S3)"}},
      {"S3_ADashInFrontIsRejected",
       {{"/metadata/generateName", "-a"}},
       {name + "\"-a\"" + kPrefixForm}},
      {"S3_AnUnderscoreIsRejected",
       {{"/metadata/generateName", "a_"}},
       {name + "\"a_\"" + kPrefixForm}},
      {"S3_ACapitalIsRejected", {{"/metadata/generateName", "A"}}, {name + "\"A\"" + kPrefixForm}},
      {"S3_TwoDashesAtTheEndAreRejected",
       {{"/metadata/generateName", "a--"}},
       {name + "\"a--\"" + kPrefixForm}},
      {"S3_AnEmptyPrefixIsRejected",
       {{"/metadata/generateName", ""}},
       {name + "\"\"" + kPrefixForm}},
      {"S3_AMissingPrefixIsRejected",
       {{"/metadata/generateName", Nothing()}},
       {kIn + "metadata.generateName: is required"}},
      {"S4_ARayJobIsAccepted", RayJob()},
      {"S4_AnyOtherTypeIsRejected",
       {{"/spec/type", "MPIJob"}},
       {kIn + "spec.type: \"MPIJob\" is not one of PyTorchJob, RayJob"}},
      {"S4_AnOldSpellingIsCorrected",
       {{"/spec/type", "pytorchjob"}},
       {kIn +
        "spec.type: \"pytorchjob\" is not one of PyTorchJob, RayJob; did you mean PyTorchJob?"}},
      {"S4_AMissingTypeIsRejected", {{"/spec/type", Nothing()}}, {kIn + "spec.type: is required"}},
      {"S5_ProjectVisibilityIsAccepted", {{"/spec/visibility", "Project"}}},
      {"S5_AnyOtherVisibilityIsRejected",
       {{"/spec/visibility", "Public"}},
       {kIn + "spec.visibility: \"Public\" is not one of Private, Project"}},
      {"S6_AZoneOfThreePartsIsAccepted", {{"/spec/timeZone", "America/Argentina/Buenos_Aires"}}},
      {"S6_AnOffsetZoneIsAccepted", {{"/spec/timeZone", "Etc/GMT+8"}}},
      {"S6_APathIsNotAZone",
       {{"/spec/timeZone", "../../etc/passwd"}},
       {"spec.timeZone: \"../../etc/passwd\" is not the name of a time zone such as Asia/Shanghai "
        "(S6)"}},
      {"S6_AnEmptyZoneIsRejected",
       {{"/spec/timeZone", ""}},
       {"spec.timeZone: \"\" is not the name of a time zone such as Asia/Shanghai (S6)"}},
      {"S6_AnOpenEndIsNotAZone",
       {{"/spec/timeZone", "Asia/"}},
       {"spec.timeZone: \"Asia/\" is not the name of a time zone such as Asia/Shanghai (S6)"}},
      {"S113_LabelsAreFree", {{"/metadata/labels", {{"team", "nlp"}, {"site.io/stage", ""}}}}},
      {"S113_AKeyThatKubernetesRefusesIsRejected",
       {{"/metadata/labels", {{"te am", "nlp"}}}},
       {"metadata.labels: \"te am\" is not a label key" + kLabelForm}},
      {"S113_AValueThatKubernetesRefusesIsRejected",
       {{"/metadata/labels", {{"team", "n l p"}}}},
       {"metadata.labels.team: \"n l p\" is not a label value" + kLabelForm}},
      {"S113_ALabelMustBeText",
       {{"/metadata/labels", {{"team", J::array()}}}},
       {kIn + "metadata.labels.team: a list is not text"}},
  };
}

std::vector<Row> Environment() {
  const std::string env = "spec.env[0].name: ";
  std::vector<Row> rows = {
      {"S9_AnAddressIsAccepted",
       {{"/spec/image/ref", "docker://nvcr.io/nvidia/pytorch:24.05-py3"}}},
      {"S9_NoImageIsTheBareHost", {{"/spec/image/ref", ""}}},
      {"S9_ABlankInTheAddressIsRejected",
       {{"/spec/image/ref", "regis try/x:1"}},
       {"spec.image.ref: \"regis try/x:1\" is not the address of an image; no blanks, at most 1024 "
        "characters (S9)"}},
      {"S9_AnEndlessAddressIsRejected",
       {{"/spec/image/ref", std::string(1025, 'x')}},
       {"spec.image.ref: \"" + std::string(60, 'x') +
        "...\" is not the address of an image; no blanks, at most 1024 characters (S9)"}},
      {"S12_AnUnderscoreInFrontIsAccepted", Env("_A1")},
      {"S12_LowercaseKubernetesIsAccepted", Env("kubernetes_x")},
      {"S12_ADigitInFrontIsRejected", Env("1A"), {env + "\"1A\"" + kEnvForm}},
      {"S12_ADashIsRejected", Env("A-B"), {env + "\"A-B\"" + kEnvForm}},
      {"S12_ADotIsRejected", Env("A.B"), {env + "\"A.B\"" + kEnvForm}},
      {"S12_AnEmptyNameIsRejected", Env(""), {env + "\"\"" + kEnvForm}},
      {"S12_KubernetesInFrontIsRejected",
       Env("KUBERNETES_X"),
       {env + "\"KUBERNETES_X\" begins with KUBERNETES_, which belongs to the platform (S12)"}},
      {"S12_AValueIsRequired",
       {{"/spec/env", J::array({{{"name", "A"}}})}},
       {kIn + "spec.env[0].value: is required"}},
      {"S14_TheSameNameTwiceIsRejected",
       {{"/spec/env",
         J::array({{{"name", "A"}, {"value", "1"}}, {{"name", "A"}, {"value", "2"}}})}},
       {"spec.env[1].name: \"A\" is there already (S14)"}},
      {"S14_AValueThatNoProcessCanBeGivenIsRejected",
       {{"/spec/env", J::array({{{"name", "A"}, {"value", std::string(131070, 'x')}}})}},
       {"spec.env[0].value: has 131070 bytes; the system takes at most 131071 with the name "
        "(S14)"}},
      {"S14_TheLongestValueIsAccepted",
       {{"/spec/env", J::array({{{"name", "A"}, {"value", std::string(131069, 'x')}}})}}},
      {"S23_AnEmptyCommandIsRejected",
       {{"/spec/command", " \n"}},
       {"spec.command: is empty; write what bash -c shall run (S23)"}},
      {"S23_AMissingCommandIsRejected",
       {{"/spec/command", Nothing()}},
       {kIn + "spec.command: is required"}},
      {"S23_TheLongestCommandIsAccepted", {{"/spec/command", std::string(131071, 'x')}}},
      {"S23_ALongerCommandThanTheKernelTakesIsRejected",
       {{"/spec/command", std::string(131072, 'x')}},
       {"spec.command: has 131072 bytes; the system takes at most 131071, so put it into a script "
        "(S23)"}},
  };
  for (const char* name :
       {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "X_USER_NAME", "X_ORG_NAME",
        "X_TENANT_ID", "X_REGION", "X_CLUSTER", "TASK_UUID", "RETRY_INDEX"}) {
    rows.push_back({"D12_" + std::string(name) + "IsReserved",
                    Env(name),
                    {env + "\"" + name + "\" is set by the platform; choose another name (D12)"}});
  }
  return rows;
}

std::vector<Row> Mounts() {
  const std::string path = "spec.volumeMounts[0].mountPath: ";
  return {
      {"S17_AVolumeByNameIsAccepted", MountOf("vol-a")},
      {"S17_AVolumeByIdIsAccepted", MountOf("v-0001")},
      {"S17_AMissingPathIsRejected",
       {{"/spec/volumeMounts", J::array({{{"volume", "vol-a"}}})}},
       {kIn + "spec.volumeMounts[0].mountPath: is required"}},
      {"S17_AMissingVolumeIsRejected",
       {{"/spec/volumeMounts", J::array({{{"mountPath", "/volume/a"}}})}},
       {kIn + "spec.volumeMounts[0].volume: is required"}},
      {"S17_AnUnknownVolumeIsRejected",
       MountOf("vol-b"),
       {"spec.volumeMounts[0].volume: \"vol-b\" is not a volume of this site; did you mean vol-a? "
        "(S17)"}},
      {"S17_ARelativePathIsRejected", MountAt("volume/a"), {path + "\"volume/a\"" + kPathForm}},
      {"S17_TheRootIsRejected", MountAt("/"), {path + "\"/\"" + kPathForm}},
      {"S17_APathThatClimbsIsRejected", MountAt("/a/../etc"), {path + "\"/a/../etc\"" + kPathForm}},
      {"S17_AnEmptyStepIsRejected", MountAt("/a//b"), {path + "\"/a//b\"" + kPathForm}},
      {"S17_AColonIsRejected", MountAt("/a:b"), {path + "\"/a:b\"" + kPathForm}},
      {"S17_ACommaIsRejected", MountAt("/a,b"), {path + "\"/a,b\"" + kPathForm}},
      {"S18_TheSameVolumeAtTwoPathsIsAccepted",
       {{"/spec/volumeMounts", J::array({{{"volume", "vol-a"}, {"mountPath", "/volume/a"}},
                                         {{"volume", "vol-a"}, {"mountPath", "/volume/b"}}})}}},
      {"S18_TheSameVolumeAtTheSamePathIsRejected",
       {{"/spec/volumeMounts", J::array({{{"volume", "vol-a"}, {"mountPath", "/volume/a"}},
                                         {{"volume", "vol-a"}, {"mountPath", "/volume/a/"}}})}},
       {"spec.volumeMounts[1].mountPath: \"vol-a\" is mounted at \"/volume/a\" already (S18)"}},
      {"D21_TwoVolumesAtOnePathAreRejected",
       {{"/spec/volumeMounts", J::array({{{"volume", "vol-a"}, {"mountPath", "/volume/a"}},
                                         {{"volume", "vol-rwx"}, {"mountPath", "/volume/a"}}})}},
       {"spec.volumeMounts[1].mountPath: \"/volume/a\" is taken by \"vol-a\" (D21)"}},
      {"D21_ADataSetOnAVolumeIsRejected",
       {{"/spec/volumeMounts", J::array({{{"volume", "vol-a"}, {"mountPath", "/mnt/a"}}})},
        {"/spec/datasets", J::array({{{"name", "c4"}, {"mountPath", "/mnt/a"}}})}},
       {"spec.datasets[0].mountPath: \"/mnt/a\" is taken by \"vol-a\" (D21)"}},
      {"S19_ADataSetNeedsAPath",
       {{"/spec/datasets", J::array({{{"name", "c4"}}})}},
       {kIn + "spec.datasets[0].mountPath: is required"}},
      {"S20_AModelNeedsAPath",
       {{"/spec/models", J::array({{{"name", "qwen"}}})}},
       {kIn + "spec.models[0].mountPath: is required"}},
      {"S20_AModelNeedsAName",
       {{"/spec/models", J::array({{{"name", ""}, {"mountPath", "/mnt/m"}}})}},
       {kIn + "spec.models[0].name: must not be empty"}},
      {"S21_AMountOnUsrIsAccepted", MountAt("/usr")},
      {"S89_AVolumeOfTheOwnProjectIsAccepted", MountOf("vol-nlp")},
      {"S89_AVolumeOfSomebodyElseIsRejected",
       MountOf("vol-vera"),
       {"spec.volumeMounts[0].volume: user \"alice\" may not mount volume \"vol-vera\" (S89)"}},
  };
}

std::vector<Row> ResourceTypes() {
  const std::string at = "spec.scheduling.";
  const auto lacks = [](const std::string& type, const std::string& rule) {
    return ": capacity type " + type + " does not have it; remove it (" + rule + ")";
  };
  std::vector<Row> rows = {
      {"S25_ReservedIsAccepted", {}},
      {"S25_OnDemandIsAccepted", OnDemand()},
      {"S25_SpotIsAccepted", Spot()},
      {"S25_IdleIsAccepted", Idle()},
      {"S25_AnyOtherTypeIsRejected",
       {{"/spec/scheduling/capacityType", "reservd"}},
       {kIn + "spec.scheduling.capacityType: \"reservd\" is not one of reserved, on-demand, spot, "
              "idle; did you mean reserved?"}},
      {"S26_ReservedNeedsAPool",
       {{"/spec/scheduling/queue", ""}},
       {at + "queue: is required: the pool whose reserved quota the job uses (S26)"}},
      {"S26_AnUnknownPoolIsRejected",
       {{"/spec/scheduling/queue", "team-shard"}},
       {at + "queue: \"team-shard\" is not a pool of this site; did you mean team-shared? (S26)"}},
      {"S26_ADedicatedPoolServesItsTenant",
       {{"/spec/scheduling/queue", "vision-dedicated"}},
       {},
       "vera"},
      {"S26_ADedicatedPoolIsClosedToOthers",
       {{"/spec/scheduling/queue", "vision-dedicated"}},
       {at +
        "queue: pool \"vision-dedicated\" is dedicated to tenant \"vision\"; you are of tenant "
        "\"research\" (S26)"}},
      {"S26_APoolHasOnlyItsFlavors",
       {{"/spec/scheduling/queue", "h200-only"},
        {"/spec/scheduling/flavors", J::array({{{"name", "h100.1g"}}})}},
       {at +
        "flavors[0].name: pool \"h200-only\" does not offer \"h100.1g\"; it has h200.1g (S26)"}},
      {"S27_AcceptIsAccepted", {{"/spec/scheduling/idle", {{"accept", true}}}}},
      {"S27_PreferAndStabilityWithAcceptAreAccepted",
       {{"/spec/scheduling/idle", {{"accept", true}, {"prefer", true}, {"minStability", "high"}}}}},
      {"S27_PreferWithoutAcceptIsRejected",
       {{"/spec/scheduling/idle", {{"prefer", true}}}},
       {at + "idle.prefer: true needs idle.accept: true (S27)"}},
      {"S27_StabilityWithoutAcceptIsRejected",
       {{"/spec/scheduling/idle", {{"minStability", "high"}}}},
       {at + "idle.minStability: \"high\" needs idle.accept: true (S27)"}},
      {"S27_WrittenDefaultsWithoutAcceptAreAccepted",
       {{"/spec/scheduling/idle",
         {{"accept", false}, {"prefer", false}, {"minStability", "medium"}}}}},
      {"ARequiredLevelIsAccepted", {{"/spec/scheduling/topology", {{"required", "rack"}}}}},
      {"APreferredLevelAndSpreadAreAccepted",
       {{"/spec/scheduling/topology", {{"preferred", "block"}}},
        {"/spec/scheduling/spread", true}}},
      {"AnUnknownLevelIsRejected",
       {{"/spec/scheduling/topology", {{"required", "rcak"}}}},
       {at + "topology.required: \"rcak\" is not a level of this site's topology; did you mean "
             "rack?"}},
      {"RequiredAndPreferredAreOneTooMany",
       {{"/spec/scheduling/topology", {{"required", "rack"}, {"preferred", "block"}}}},
       {at + "topology: names both required \"rack\" and preferred \"block\"; one of them is "
             "enough"}},
      {"S28_OnDemandInAPoolIsAccepted", OnDemand({{"/spec/scheduling/queue", "h200-only"}})},
      {"S28_OnDemandInAPoolWithoutItIsRejected",
       OnDemand({{"/spec/scheduling/queue", "vision-dedicated"}}),
       {at + "queue: pool \"vision-dedicated\" does not offer capacity type on-demand (S28)"},
       "vera"},
      {"S29_SpotHasNoPool",
       Spot({{"/spec/scheduling/queue", "team-shared"}}),
       {at + "queue: capacity type spot does not have it: any pool serves; remove it (S29)"}},
      {"S30_IdleHasNoPool",
       Idle({{"/spec/scheduling/queue", "team-shared"}}),
       {at + "queue: capacity type idle does not have it: any pool serves; remove it (S30)"}},
      {"S30_IdleWithAStabilityIsAccepted", Idle({{"/spec/scheduling/idle/minStability", "high"}})},
      {"S30_AnUnknownStabilityIsRejected",
       Idle({{"/spec/scheduling/idle/minStability", "hihg"}}),
       {kIn +
        "spec.scheduling.idle.minStability: \"hihg\" is not one of low, medium, high; did you "
        "mean high?"}},
      {"S31_IdleRejectsAPriority",
       Idle({{"/spec/scheduling/priorityClassName", "high"}}),
       {at + "priorityClassName" + lacks("idle", "S31")}},
      {"S31_IdleRejectsEvenTheDefaultPriority",
       Idle({{"/spec/scheduling/priorityClassName", "medium"}}),
       {at + "priorityClassName" + lacks("idle", "S31")}},
      {"S31_IdleRejectsAGuarantee",
       Idle({{"/spec/scheduling/preemptible", false}}),
       {at + "preemptible" + lacks("idle", "S31")}},
      {"S31_IdleRejectsEvenPreemptibleTrue",
       Idle({{"/spec/scheduling/preemptible", true}}),
       {at + "preemptible" + lacks("idle", "S31")}},
      {"S31_IdleRejectsAccept",
       Idle({{"/spec/scheduling/idle/accept", true}}),
       {at + "idle.accept" + lacks("idle", "S27")}},
      {"S31_IdleRejectsPreferEvenWhenFalse",
       Idle({{"/spec/scheduling/idle/prefer", false}}),
       {at + "idle.prefer" + lacks("idle", "S27")}},
      {"Matrix_OnDemandHasPriorityAndGuarantee",
       OnDemand({{"/spec/scheduling/priorityClassName", "high"},
                 {"/spec/scheduling/preemptible", false}})},
      {"Matrix_OnDemandRejectsAllOfIdle",
       OnDemand({{"/spec/scheduling/idle",
                  {{"accept", false}, {"prefer", false}, {"minStability", "medium"}}}}),
       {at + "idle.accept" + lacks("on-demand", "S27"),
        at + "idle.prefer" + lacks("on-demand", "S27"),
        at + "idle.minStability" + lacks("on-demand", "S27")}},
      {"Matrix_SpotRejectsAllOfIdle",
       Spot({{"/spec/scheduling/idle",
              {{"accept", true}, {"prefer", true}, {"minStability", "low"}}}}),
       {at + "idle.accept" + lacks("spot", "S27"), at + "idle.prefer" + lacks("spot", "S27"),
        at + "idle.minStability" + lacks("spot", "S27")}},
      {"Matrix_ReservedHasPriorityAndGuarantee",
       {{"/spec/scheduling/priorityClassName", "low"}, {"/spec/scheduling/preemptible", false}}},
      {"S56_ThereAreThreePriorities",
       {{"/spec/scheduling/priorityClassName", "urgent"}},
       {kIn + "spec.scheduling.priorityClassName: \"urgent\" is not one of low, medium, high"}},
      {"D3_AGuaranteeOnSpotIsAccepted", Spot({{"/spec/scheduling/preemptible", false}})},
      {"D4_APriorityOnSpotIsAccepted", Spot({{"/spec/scheduling/priorityClassName", "high"}})},
      {"D8_AGuaranteeThatAcceptsIdleIsRejected",
       {{"/spec/scheduling/preemptible", false}, {"/spec/scheduling/idle", {{"accept", true}}}},
       {at + "idle.accept: true contradicts preemptible: false; nothing on idle resources can be "
             "guaranteed (D8)"}},
  };
  return rows;
}

std::vector<Row> Replicas() {
  const std::string at = "spec.scheduling.";
  return {
      {"S32_AMasterCountIsNotAField",
       {{"/spec/replicas", {{"workers", 1}, {"master", 2}}}},
       {kIn + "spec.replicas.master: unknown key; known here: workers"}},
      {"S32_AMasterFlavorIsRejected",
       {{"/spec/ray/head/flavors", J::array({{{"name", "cpu.4c"}}})}},
       {"spec.ray.head.flavors: only a RayJob has it; this is a PyTorchJob (S32)"}},
      {"S33_NoWorkersIsASingleNode", {{"/spec/replicas/workers", 0}}},
      {"S33_FewerThanNoWorkersIsRejected",
       {{"/spec/replicas/workers", -1}},
       {"spec.replicas.workers: -1 is below 0; 0 = a single node (S33)"}},
      {"S33_AFractionOfAWorkerIsRejected",
       {{"/spec/replicas/workers", 1.5}},
       {kIn + "spec.replicas.workers: 1.5 is not a whole number of at most 64 bits"}},
      {"S34_TheWholeGangIsAccepted",
       {{"/spec/replicas/workers", 3}, {"/spec/scheduling/gang", {{"minMember", 4}}}}},
      {"S34_AutoIsAccepted", {{"/spec/scheduling/gang", {{"minMember", "auto"}}}}},
      {"S44_APartOfTheGangIsRejected",
       {{"/spec/replicas/workers", 3}, {"/spec/scheduling/gang", {{"minMember", 3}}}},
       {at + "gang.minMember: 3 is not all 4 replicas, which start together or not at all; write "
             "auto (S44)"}},
      {"S44_AWordIsNotAGang",
       {{"/spec/scheduling/gang", {{"minMember", "some"}}}},
       {kIn + "spec.scheduling.gang.minMember: \"some\" is neither auto nor a number"}},
      {"S35_AHeadOfItsOwnFlavorIsAccepted",
       RayJob({{"/spec/ray/head/flavors", J::array({{{"name", "cpu.4c"}}})}})},
      {"S35_AnUnknownHeadFlavorIsRejected",
       RayJob({{"/spec/ray/head/flavors", J::array({{{"name", "cpu.4"}}})}}),
       {"spec.ray.head.flavors[0].name: \"cpu.4\" is not a flavor of this site; did you mean "
        "cpu.4c? "
        "(S36)"}},
      {"S36_AFlavorIsRequired",
       Flavors(J::array()),
       {at + "flavors: is empty; name at least one flavor (S36)"}},
      {"S36_AnUnknownFlavorIsRejected",
       Flavors(J::array({{{"name", "h20.1g"}}})),
       {at +
        "flavors[0].name: \"h20.1g\" is not a flavor of this site; did you mean h200.1g? (S36)"}},
      {"S37_SeveralUnitsAreAccepted", Flavors(J::array({{{"name", "h200.1g"}, {"count", 4}}}))},
      {"S37_NoUnitIsRejected",
       Flavors(J::array({{{"name", "h200.1g"}, {"count", 0}}})),
       {at + "flavors[0].count: 0 is below 1 unit per replica (S37)"}},
      {"S37_TooManyUnitsAreRejected",
       Flavors(J::array({{{"name", "h200.1g"}, {"count", 10001}}})),
       {kIn + "spec.scheduling.flavors[0].count: 10001 is above the maximum 10000"}},
      {"S38_AnOrderedListIsAccepted",
       Flavors(J::array({{{"name", "h200.1g"}}, {{"name", "h100.1g"}}}))},
      {"S38_TheSameFlavorTwiceIsRejected",
       Flavors(J::array({{{"name", "h200.1g"}}, {{"name", "h200.1g"}}})),
       {at + "flavors[1].name: \"h200.1g\" is in the list already (S38)"}},
      {"D1_AFlavorHasNoPriority",
       Flavors(J::array({{{"name", "h200.1g"}, {"priority", 1}}})),
       {kIn + "spec.scheduling.flavors[0].priority: unknown key; known here: count, name"}},
  };
}

std::vector<Row> NodePolicies() {
  const std::string at = "spec.scheduling.nodePolicy.";
  const std::string range = " is not between 60 and 259200 (1 minute to 72 hours) (S76)";
  const auto not_in = [](const J& ttl) {
    return NodePolicyIs({{"nodeNames", {"n1"}}, {"ttlSeconds", ttl}});
  };
  return {
      {"S72_NodeNotInIsTheDefault", not_in(3600)},
      {"S72_NamesAreRequired",
       NodePolicyIs({{"ttlSeconds", 3600}}),
       {kIn + "spec.scheduling.nodePolicy.nodeNames: is required"}},
      {"S72_NoNameIsRejected",
       NodePolicyIs({{"nodeNames", J::array()}, {"ttlSeconds", 3600}}),
       {at + "nodeNames: is empty; name at least one node (S72)"}},
      {"S72_ABadNameIsRejected",
       NodePolicyIs({{"nodeNames", {"n1", "n[2"}}, {"ttlSeconds", 3600}}),
       {at + "nodeNames[1]: \"n[2\" is not the name of a node (S72)"}},
      {"S73_NodeInIsAccepted", NodePolicyIs({{"type", "NodeIn"}, {"nodeNames", {"n1"}}})},
      {"S74_AnyOtherTypeIsRejected",
       NodePolicyIs({{"type", "NodeOut"}, {"nodeNames", {"n1"}}}),
       {kIn + "spec.scheduling.nodePolicy.type: \"NodeOut\" is not one of NodeIn, NodeNotIn"}},
      {"D11_NodeInHasNoExpiry",
       NodePolicyIs({{"type", "NodeIn"}, {"nodeNames", {"n1"}}, {"ttlSeconds", 3600}}),
       {at + "ttlSeconds: a NodeIn of a job lasts as long as the job; remove it (D11)"}},
      {"S76_AnExpiryIsRequired",
       NodePolicyIs({{"nodeNames", {"n1"}}}),
       {at + "ttlSeconds: is required for NodeNotIn: 60 to 259200 (S76)"}},
      {"S76_FiftyNineSecondsAreRejected", not_in(59), {at + "ttlSeconds: 59" + range}},
      {"S76_SixtySecondsAreAccepted", not_in(60)},
      {"S76_SeventyTwoHoursAreAccepted", not_in(259200)},
      {"S76_OneSecondMoreIsRejected", not_in(259201), {at + "ttlSeconds: 259201" + range}},
  };
}

std::vector<Row> RayRows() {
  const std::string at = "spec.ray.";
  const std::string only = ": only a RayJob has it; this is a PyTorchJob ";
  const auto runtime = [](const std::string& yaml) {
    return RayJob({{"/spec/ray/runtimeEnvYAML", yaml}});
  };
  const auto shared = [](const std::string& volume) {
    return RayJob({{"/spec/ray/sharedStorage/volume", volume}});
  };
  return {
      {"S86_ARuntimeEnvIsAccepted", runtime("pip: [einops]\nenv_vars: {A: \"1\"}\n")},
      {"S86_AnEmptyRuntimeEnvIsAccepted", runtime("")},
      {"S86_OnlyACommentIsAccepted", runtime("# nothing yet\n")},
      {"S86_BadYamlIsRejected",
       runtime("pip: [einops\n"),
       {at + "runtimeEnvYAML: line:2: not YAML: end of sequence flow not found (S86)"}},
      {"S86_AListIsRejected",
       runtime("- einops\n"),
       {at + "runtimeEnvYAML: is not a map, such as {pip: [einops]} (S86)"}},
      {"S86_ANumberAsAVariableIsRejected",
       runtime("env_vars: {A: 1}\n"),
       {at + "runtimeEnvYAML: env_vars.A: Ray takes text only; write it in quotes: \"1\" (S86)"}},
      {"S86_VariablesMustBeAMap",
       runtime("env_vars: [A]\n"),
       {at + "runtimeEnvYAML: env_vars: is not a map (S86)"}},
      {"D12_ReservedNamesBindTheRuntimeEnv",
       runtime("env_vars: {TASK_UUID: \"1\"}\n"),
       {at + "runtimeEnvYAML: env_vars: \"TASK_UUID\" is set by the platform; choose another name "
             "(D12)"}},
      {"S87_SharedStorageIsAccepted", shared("vol-rwx")},
      {"S87_AnUnknownVolumeIsRejected",
       shared("vol-rwz"),
       {at +
        "sharedStorage.volume: \"vol-rwz\" is not a volume of this site; did you mean vol-rwx? "
        "(S87)"}},
      {"S87_AMountOnTheSharedStorageIsRejected",
       RayJob({{"/spec/ray/sharedStorage/volume", "vol-rwx"},
               {"/spec/volumeMounts",
                J::array({{{"volume", "vol-a"}, {"mountPath", "/tmp/ray/x"}}})}}),
       {"spec.volumeMounts[0].mountPath: \"/tmp/ray/x\" is taken by the job's shared storage "
        "(S87)"}},
      {"S87_AMountBesideTheSharedStorageIsAccepted",
       RayJob({{"/spec/ray/sharedStorage/volume", "vol-rwx"},
               {"/spec/volumeMounts",
                J::array({{{"volume", "vol-a"}, {"mountPath", "/tmp/rays"}}})}})},
      {"S88_PyTorchHasNoSharedStorage",
       {{"/spec/ray/sharedStorage/volume", "vol-rwx"}},
       {at + "sharedStorage" + only + "(S88)"}},
      {"S4_PyTorchHasNoRayParts",
       {{"/spec/ray",
         {{"runtimeEnvYAML", "pip: []"},
          {"autoscaling", {{"enabled", true}}},
          {"debug", {{"enabled", true}}}}}},
       {at + "runtimeEnvYAML" + only + "(S4)", at + "autoscaling.enabled" + only + "(S4)",
        at + "debug.enabled" + only + "(S4)"}},
      {"S89_SharedStorageOfSomebodyElseIsRejected",
       shared("vol-vera"),
       {at + "sharedStorage.volume: user \"alice\" may not mount volume \"vol-vera\" (S89)"}},
      {"S90_AVolumeForOneNodeIsRejected",
       shared("vol-rwo"),
       {at + "sharedStorage.volume: volume \"vol-rwo\" is ReadWriteOnce; shared storage needs "
             "ReadWriteMany (S90)"}},
      {"S96_BoundsAroundTheWorkersAreAccepted",
       Scaling({{"enabled", true}, {"minReplicas", 1}, {"maxReplicas", 4}}, 1)},
      {"S96_TheUpperBoundItselfIsAccepted",
       Scaling({{"enabled", true}, {"minReplicas", 1}, {"maxReplicas", 4}}, 4)},
      {"S96_ANegativeMinimumIsRejected",
       Scaling({{"enabled", true}, {"minReplicas", -1}, {"maxReplicas", 4}}, 1),
       {at + "autoscaling.minReplicas: -1 is below 0 (S96)"}},
      {"S97_NoMaximumIsRejected",
       Scaling({{"enabled", true}}, 1),
       {at + "autoscaling.maxReplicas: 0 is below 1 (S97)"}},
      {"S97_AMinimumAboveTheMaximumIsRejected",
       Scaling({{"enabled", true}, {"minReplicas", 5}, {"maxReplicas", 4}}, 4),
       {at + "autoscaling.minReplicas: 5 is above maxReplicas 4 (S97)"}},
      {"S97_FewerWorkersThanTheMinimumAreRejected",
       Scaling({{"enabled", true}, {"minReplicas", 2}, {"maxReplicas", 4}}, 1),
       {"spec.replicas.workers: 1 is not between minReplicas 2 and maxReplicas 4 (S97)"}},
      {"S97_MoreWorkersThanTheMaximumAreRejected",
       Scaling({{"enabled", true}, {"minReplicas", 2}, {"maxReplicas", 4}}, 5),
       {"spec.replicas.workers: 5 is not between minReplicas 2 and maxReplicas 4 (S97)"}},
      {"S97_BoundsThatAreOffBindNobody",
       Scaling({{"enabled", false}, {"minReplicas", 1}, {"maxReplicas", 4}}, 9)},
      {"S98_NoIdleTimeIsRejected",
       Scaling({{"enabled", true}, {"maxReplicas", 4}, {"idleTimeoutSeconds", 0}}, 1),
       {at + "autoscaling.idleTimeoutSeconds: 0 is below 1 (S98)"}},
      {"S99_AnUnknownModeIsRejected",
       Scaling({{"enabled", true}, {"maxReplicas", 4}, {"upscalingMode", "Fast"}}, 1),
       {kIn +
        "spec.ray.autoscaling.upscalingMode: \"Fast\" is not one of Conservative, Aggressive"}},
      {"S102_AHoldOfNoTimeIsRejected",
       RayJob({{"/spec/ray/debug", {{"enabled", true}, {"holdSeconds", 0}}}}),
       {kIn + "spec.ray.debug.holdSeconds: 0 is below the minimum 1"}},
  };
}

std::vector<Row> Failure() {
  const std::string at = "spec.failurePolicy.";
  const auto pulls = [](const J& n) {
    return Changes{{"/spec/image/pullPolicy", {{"maxRetries", n}}}};
  };
  const auto exclude = [](int ttl) {
    return Changes{{"/spec/failurePolicy/excludeFailedNodes", {{"ttlSeconds", ttl}}}};
  };
  const std::string range = " is not between 60 and 259200 (1 minute to 72 hours) (S76)";
  return {
      {"S66_NoRetryIsAccepted", pulls(0)},
      {"S66_NoLimitIsAccepted", pulls(-1)},
      {"S66_AnOwnNumberIsAccepted", pulls(3)},
      {"S66_TheSitesNumberIsAccepted", pulls(nullptr)},
      {"S67_BelowMinusOneIsRejected",
       pulls(-2),
       {"spec.image.pullPolicy.maxRetries: -2 is below -1; -1 = no limit, 0 = no retry, N = N "
        "retries, null = the site's number (S67)"}},
      {"S67_AWordIsRejected",
       pulls("many"),
       {kIn + "spec.image.pullPolicy.maxRetries: \"many\" is not a whole number of at most 64 bits "
              "or null"}},
      {"S108_RetriesAreAccepted",
       {{"/spec/failurePolicy", {{"enabled", true}, {"maxRetries", 0}}}}},
      {"S108_NegativeRetriesAreRejected",
       {{"/spec/failurePolicy", {{"enabled", true}, {"maxRetries", -1}}}},
       {at + "maxRetries: -1 is below 0 (S108)"}},
      {"S108_PreemptionRetriesHaveNoLimitAtMinusOne",
       {{"/spec/failurePolicy/maxPreemptionRetries", -1}}},
      {"S108_FewerPreemptionRetriesAreRejected",
       {{"/spec/failurePolicy/maxPreemptionRetries", -2}},
       {at + "maxPreemptionRetries: -2 is below -1; -1 = no limit (S108)"}},
      {"S108_AnUnknownPolicyIsRejected",
       {{"/spec/failurePolicy/policy", "Always"}},
       {kIn + "spec.failurePolicy.policy: \"Always\" is not one of OnFailure, OnInfraFailure, "
              "ExitCodeAndLog, Never"}},
      {"S108_RulesAreAccepted",
       FailureRules(
           J::array({{{"onExitCodes", {42}}, {"onSignals", {"SIGKILL"}}, {"action", "Retry"}},
                     {{"onLog", "Loss (nan|inf)"}, {"action", "Fail"}}}))},
      {"S108_ARuleThatMatchesNothingIsRejected",
       FailureRules(J::array({{{"action", "Retry"}}})),
       {at + "rules[0]: matches nothing; write onExitCodes, onSignals or onLog (S108)"}},
      {"S108_AnActionIsRequired",
       FailureRules(J::array({{{"onExitCodes", {1}}}})),
       {kIn + "spec.failurePolicy.rules[0].action: is required"}},
      {"S108_ExitCodeZeroIsNoFailure",
       FailureRules(J::array({{{"onExitCodes", {1, 0, 256}}, {"action", "Retry"}}})),
       {at + "rules[0].onExitCodes[1]: 0 is not the exit code of a failure, 1 to 255 (S108)",
        at + "rules[0].onExitCodes[2]: 256 is not the exit code of a failure, 1 to 255 (S108)"}},
      {"S108_AnUnknownSignalIsRejected",
       FailureRules(J::array({{{"onSignals", {"SIGKIL"}}, {"action", "Retry"}}})),
       {at + "rules[0].onSignals[0]: \"SIGKIL\" is not a signal that ends a process; did you mean "
             "SIGKILL? (S108)"}},
      {"S108_ABrokenPatternIsRejected",
       FailureRules(J::array({{{"onLog", "Loss (nan"}, {"action", "Retry"}}})),
       {at + "rules[0].onLog: \"Loss (nan\" is not a regular expression: missing ): "
             "Loss (nan (S108)"}},
      {"S108_AnExpressionThatLooksAroundIsRejected",
       FailureRules(J::array({{{"onLog", "nan(?=x)"}, {"action", "Retry"}}})),
       {at + "rules[0].onLog: \"nan(?=x)\" is not a regular expression: invalid perl operator: "
             "(?= (S108)"}},
      {"S108_AnEndlessPatternIsRejected",
       FailureRules(J::array({{{"onLog", std::string(1025, '(')}, {"action", "Retry"}}})),
       {at + "rules[0].onLog: has 1025 characters; at most 1024 (S108)"}},
      {"S76_TheExcludeListHasTheSameBounds",
       exclude(59),
       {at + "excludeFailedNodes.ttlSeconds: 59" + range}},
      {"S76_TheExcludeListMayLastAMinute", exclude(60)},
      {"S76_TheExcludeListMayLastThreeDays", exclude(259200)},
      {"S76_TheExcludeListMayNotLastLonger",
       exclude(259201),
       {at + "excludeFailedNodes.ttlSeconds: 259201" + range}},
      {"S76_AnExcludeListThatIsOffHasNoBounds",
       {{"/spec/failurePolicy/excludeFailedNodes", {{"enabled", false}, {"ttlSeconds", 5}}}}},
  };
}

std::vector<Row> Monitoring() {
  const auto tell = [](const J& notification) {
    return Changes{{"/spec/notifications", J::array({notification})}};
  };
  return {
      {"S70_AWebhookIsAccepted", tell({{"on", {"Failed"}}, {"webhook", "https://h/x"}})},
      {"S70_AMailIsAccepted", tell({{"on", {"Started", "Hang"}}, {"email", "a@b.org"}})},
      {"S70_NobodyIsRejected",
       tell({{"on", {"Failed"}}}),
       {"spec.notifications[0]: tells nobody; write webhook or email (S70)"}},
      {"S70_AnotherSchemeIsRejected",
       tell({{"on", {"Failed"}}, {"webhook", "file:///etc/passwd"}}),
       {"spec.notifications[0].webhook: \"file:///etc/passwd\" is not an address such as "
        "http://host/path (S70)"}},
      {"S70_AnAddressWithoutAnAtIsRejected",
       tell({{"on", {"Failed"}}, {"email", "alice"}}),
       {"spec.notifications[0].email: \"alice\" is not a mail address (S70)"}},
      {"S70_AnUnknownEventIsRejected",
       tell({{"on", {"Fail"}}, {"email", "a@b.org"}}),
       {kIn + "spec.notifications[0].on[0]: \"Fail\" is not one of Started, Succeeded, Failed, "
              "Stopped, Preempted, Retrying, Hang; did you mean Failed?"}},
      {"S70_NoEventIsRejected",
       tell({{"on", J::array()}, {"email", "a@b.org"}}),
       {kIn + "spec.notifications[0].on: has 0 items; at least 1 needed"}},
      {"S121_APathIsAccepted", {{"/spec/metrics", {{"enabled", true}, {"path", "/m"}}}}},
      {"S121_ARelativePathIsRejected",
       {{"/spec/metrics/path", "metrics"}},
       {"spec.metrics.path: \"metrics\" is not a path; it begins with / and has no blanks (S121)"}},
      {"S121_APortBeyondTheLastIsRejected",
       {{"/spec/metrics/port", 65536}},
       {kIn + "spec.metrics.port: 65536 is above the maximum 65535"}},
  };
}

class Rules : public testing::TestWithParam<Row> {};

TEST_P(Rules, Hold) {
  EXPECT_EQ(Errors(GetParam().changes, GetParam().user), GetParam().errors);
}

std::string RowName(const testing::TestParamInfo<Row>& row) {
  return row.param.name;
}

INSTANTIATE_TEST_SUITE_P(Identity, Rules, testing::ValuesIn(Identity()), RowName);
INSTANTIATE_TEST_SUITE_P(Environment, Rules, testing::ValuesIn(Environment()), RowName);
INSTANTIATE_TEST_SUITE_P(Mounts, Rules, testing::ValuesIn(Mounts()), RowName);
INSTANTIATE_TEST_SUITE_P(ResourceTypes, Rules, testing::ValuesIn(ResourceTypes()), RowName);
INSTANTIATE_TEST_SUITE_P(Replicas, Rules, testing::ValuesIn(Replicas()), RowName);
INSTANTIATE_TEST_SUITE_P(NodePolicies, Rules, testing::ValuesIn(NodePolicies()), RowName);
INSTANTIATE_TEST_SUITE_P(Ray, Rules, testing::ValuesIn(RayRows()), RowName);
INSTANTIATE_TEST_SUITE_P(Failure, Rules, testing::ValuesIn(Failure()), RowName);
INSTANTIATE_TEST_SUITE_P(Monitoring, Rules, testing::ValuesIn(Monitoring()), RowName);

}  // namespace
}  // namespace cox::spec

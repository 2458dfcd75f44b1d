#include "tools/cox/capacity_text.hpp"
#include "tools/cox/verbs.hpp"

namespace cox::cli {

int Quota(const Context& context, const Arguments& args) {
  Value::Fields fields;
  if (!args.target.empty()) fields.emplace_back("subject", args.target);
  const auto result = context.Ask("quota", std::move(fields));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) *context.out << QuotaText((*result)["rows"]);
  return kOk;
}

int Pool(const Context& context, const Arguments& args) {
  const auto result = context.Ask("pool", {});
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) *context.out << PoolText(*result);
  return kOk;
}

int Flavors(const Context& context, const Arguments& args) {
  Value::Fields fields;
  if (!args.capacity_type.empty()) fields.emplace_back("capacity_type", args.capacity_type);
  const auto result = context.Ask("flavors", std::move(fields));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) *context.out << FlavorsText(*result);
  return kOk;
}

int Nodes(const Context& context, const Arguments& args) {
  const auto result = context.Ask("nodes", {});
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << NodesText((*result)["nodes"], context.colour);
  }
  return kOk;
}

int LedgerCheck(const Context& context, const Arguments& args) {
  const auto result = context.Ask("ledger_check", {});
  if (!result) return context.Fail(result.error());
  const bool consistent = (*result)["consistent"].truth();
  if (!context.Printed(args, *result)) {
    *context.out << (consistent ? "consistent" : "NOT consistent")
                 << ((*result)["text"].empty() ? "" : ": " + (*result)["text"].text()) << "\n";
  }
  return consistent ? kOk : kFailed;
}

}  // namespace cox::cli

#include "tools/cox/capacity_text.hpp"
#include "tools/cox/verbs.hpp"

namespace cox::cli {

int NodePolicyCreate(const Context& context, const Arguments& args) {
  Value::Fields fields = {{"type", args.type}, {"ttl_seconds", args.ttl_seconds}};
  if (!args.nodes.empty()) {
    fields.emplace_back("node_names", Value::List(args.nodes.begin(), args.nodes.end()));
  }
  if (!args.from_job.empty()) fields.emplace_back("job", args.from_job);
  if (args.tenant_scope) fields.emplace_back("tenant_scope", true);
  if (!args.reason.empty()) fields.emplace_back("reason", args.reason);
  const auto result = context.Ask("nodepolicy_create", std::move(fields));
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << (*result)["id"].text() << "\n";
    for (const Value& warning : (*result)["warnings"].rows()) {
      *context.err << "warning: " << (warning.is_text() ? warning.text() : warning["text"].text())
                   << "\n";
    }
  }
  return kOk;
}

int NodePolicyList(const Context& context, const Arguments& args) {
  const auto result = context.Ask("nodepolicy_list", {{"all", args.all}});
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) {
    *context.out << PoliciesText((*result)["policies"], context.clock->Now());
  }
  return kOk;
}

int NodePolicyDelete(const Context& context, const Arguments& args) {
  const auto result = context.Ask("nodepolicy_delete", {{"id", args.target}});
  if (!result) return context.Fail(result.error());
  if (!context.Printed(args, *result)) *context.out << args.target << ": deleted\n";
  return kOk;
}

}  // namespace cox::cli

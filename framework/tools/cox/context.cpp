#include "tools/cox/context.hpp"

namespace cox::cli {
namespace {

constexpr Code kCodes[] = {Code::kInvalidArgument,   Code::kNotFound, Code::kForbidden,
                           Code::kConflict,          Code::kInternal, Code::kUnavailable,
                           Code::kFailedPrecondition};

Code CodeOf(const std::string& name) {
  for (const Code code : kCodes) {
    if (name == CodeName(code)) return code;
  }
  return Code::kInternal;
}

}  // namespace

Result<Value> Context::Ask(const std::string& verb, Value::Fields args) const {
  const Value request(Value::Fields{{"verb", verb}, {"args", std::move(args)}});
  const auto line = call(socket, request.ToJson(-1));
  if (!line) return line.error();
  auto reply = Value::Parse(*line);
  if (!reply) return Internal("the daemon's answer is " + reply.error().text);
  if (!(*reply)["ok"].truth()) {
    return Error{CodeOf((*reply)["code"].text()), (*reply)["text"].text()};
  }
  return (*reply)["result"];
}

int Context::Fail(const Error& error) const {
  *err << "cox: " << error.text << "\n";
  switch (error.code) {
    case Code::kNotFound:
      return kNoSuch;
    case Code::kForbidden:
      return kForbidden;
    case Code::kUnavailable:
      return kNoDaemon;
    default:
      return kFailed;
  }
}

bool Context::Printed(const Arguments& args, const Value& value) const {
  if (args.format == Format::kTable) return false;
  *out << (args.format == Format::kJson ? value.ToJson() + "\n" : value.ToYaml());
  return true;
}

}  // namespace cox::cli

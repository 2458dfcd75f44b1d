#include "base/result.hpp"

namespace cox {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "InvalidArgument";
    case Code::kNotFound:
      return "NotFound";
    case Code::kForbidden:
      return "Forbidden";
    case Code::kConflict:
      return "Conflict";
    case Code::kFailedPrecondition:
      return "FailedPrecondition";
    case Code::kUnavailable:
      return "Unavailable";
    case Code::kInternal:
      return "Internal";
  }
  return "Internal";
}

}  // namespace cox

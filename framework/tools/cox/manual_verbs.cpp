// What is made of the command line's own description: completion and the manual page.
#include "tools/cox/completion.hpp"
#include "tools/cox/manual.hpp"
#include "tools/cox/verbs.hpp"

namespace cox::cli {

int Completion(const Context& context, const Arguments& args) {
  *context.out << CompletionScript(WholeCommand(), args.target);
  return kOk;
}

int Man(const Context& context, const Arguments&) {
  *context.out << ManPage(WholeCommand(), Epilogue());
  return kOk;
}

}  // namespace cox::cli

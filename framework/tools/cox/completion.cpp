#include "tools/cox/completion.hpp"

namespace cox::cli {
namespace {

// The rows of three `case`s. A key is "cox nodepolicy", or with an option "cox list --state".
struct Rows {
  std::string words;      // what may follow: the verbs below, the options
  std::string values;     // of an option that takes one; empty when nothing is known about them
  std::string arguments;  // of a verb
};

std::string Row(const std::string& key, const std::string& command) {
  return "    \"" + key + "\") " + command + " ;;\n";
}

std::string Echo(const std::vector<std::string>& words) {
  std::string out = "echo '";
  for (const std::string& word : words) out += (&word == &words.front() ? "" : " ") + word;
  return out + "'";
}

void Collect(const Command& command, const std::string& key, Rows& rows) {
  std::vector<std::string> words;
  for (const Command& below : command.commands) words.push_back(below.name);
  for (const Option& option : command.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
    if (option.value.empty()) continue;
    for (const auto& name : option.names) rows.values += Row(key + " " + name, Echo(option.words));
  }
  rows.words += Row(key, Echo(words));
  if (!command.positionals.empty()) {
    const Positional& first = command.positionals.front();
    if (first.name == "T") {
      rows.arguments += Row(key, "cox list --all 2>/dev/null | awk 'NR>1{print $1}'");
    } else if (!first.words.empty()) {
      rows.arguments += Row(key, Echo(first.words));
    }
  }
  for (const Command& below : command.commands) Collect(below, key + " " + below.name, rows);
}

// Functions that both shells understand: what may follow KEY; the values of OPTION there, failing
// where it takes none; what may be the argument of a verb.
std::string Tables(const Command& program) {
  Rows rows;
  Collect(program, program.name, rows);
  return "# Made by `cox completion`; what --help says.\n"
         "_cox_words() {\n  case \"$1\" in\n" +
         rows.words +
         "  esac\n}\n"
         "_cox_values() {\n  case \"$1 $2\" in\n" +
         rows.values +
         "    *) return 1 ;;\n  esac\n}\n"
         "_cox_argument() {\n  case \"$1\" in\n" +
         rows.arguments + "  esac\n}\n";
}

// _cox_place WORDS...: sets key, the verbs among them, and last, the last word if it can have a
// value. _cox_candidates CURRENT WORDS...: what may stand where CURRENT is being typed, a line
// each.
constexpr const char kBoth[] = R"sh(_cox_place() {
  key=cox last=
  local word
  for word in "$@"; do
    if [ -n "$last" ] && _cox_value >/dev/null; then
      last=
      continue
    fi
    last=$word
    if [ -n "$(_cox_words "$key $word")" ]; then key="$key $word"; fi
  done
}
_cox_value() {
  _cox_values "$key" "$last" || _cox_values cox "$last"
}
_cox_candidates() {
  local key last current=$1
  shift
  _cox_place "$@"
  {
    _cox_value || case "$current" in
      -*) _cox_words "$key"; _cox_words cox | tr ' ' '\n' | grep '^-' ;;
      *) _cox_words "$key" | tr ' ' '\n' | grep -v '^-'; _cox_argument "$key" ;;
    esac
  } | tr ' ' '\n'
}
)sh";

constexpr const char kBash[] = R"sh(_cox() {
  local current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($(compgen -W "$(_cox_candidates "$current" "${COMP_WORDS[@]:1:COMP_CWORD-1}")" \
                       -- "$current"))
}
complete -o default -F _cox cox
)sh";

constexpr const char kZsh[] = R"sh(_cox() {
  local -a found
  found=(${(f)"$(_cox_candidates "${words[CURRENT]}" ${words[2,CURRENT-1]})"})
  compadd -a found || _files
}
if [ "$funcstack[1]" = _cox ]; then _cox "$@"; else compdef _cox cox; fi
)sh";

}  // namespace

std::string CompletionScript(const Command& program, const std::string& shell) {
  const std::string both = Tables(program) + kBoth;
  return shell == "zsh" ? "#compdef cox\n" + both + kZsh : both + kBash;
}

}  // namespace cox::cli

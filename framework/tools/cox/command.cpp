#include "tools/cox/command.hpp"

#include <algorithm>

#include "spec/text.hpp"

namespace cox::cli {
namespace {

std::string NameOf(const std::string& word) {  // "--socket=/x" -> "--socket"
  return word.substr(0, word.find('='));
}

const Option* FindOption(const Command& command, const std::string& name) {
  const auto option = std::ranges::find_if(command.options, [&](const Option& o) {
    return std::ranges::find(o.names, name) != o.names.end();
  });
  return option == command.options.end() ? nullptr : &*option;
}

std::vector<std::string> Names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> LongNames(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.names.back());
  return names;
}

}  // namespace

const Command* Command::Find(const std::string& word) const {
  const auto command = std::ranges::find(commands, word, &Command::name);
  return command == commands.end() ? nullptr : &*command;
}

std::string UnknownWord(const Command& program, const std::vector<std::string>& words) {
  const Command* at = &program;
  std::string said = program.name;  // "cox nodepolicy"
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (word.starts_with("-") && word.size() > 1) {
      const std::string name = NameOf(word);
      const Option* option = FindOption(*at, name);
      if (option == nullptr) option = FindOption(program, name);
      if (option == nullptr && word.starts_with("--")) {
        std::vector<std::string> known = LongNames(at->options);
        const auto more = LongNames(program.options);
        known.insert(known.end(), more.begin(), more.end());
        return said + " has no option " + name + spec::DidYouMean(name, known);
      }
      if (option != nullptr && !option->value.empty() && name == word) ++i;  // its value
      continue;
    }
    if (at->commands.empty()) continue;  // an argument of the verb
    const Command* next = at->Find(word);
    if (next == nullptr) {
      const auto known = Names(at->commands);
      return said + " has no verb " + spec::Quote(word) + spec::DidYouMean(word, known) +
             (spec::Nearest(word, known).empty() ? "; it has " : " It has ") + spec::Join(known);
    }
    at = next;
    said += " " + word;
  }
  return "";
}

}  // namespace cox::cli

// What can be typed, as plain data: every verb with its options. Made from the parser itself, so
// that whatever is made of it (completion, the man page, the answer to a typing error) says what
// --help says. Immutable.
#pragma once

#include <string>
#include <vector>

namespace cox::cli {

struct Option {
  std::vector<std::string> names;  // "-o", "--output"
  std::string value;               // "FORMAT"; "" = a flag
  std::vector<std::string> words;  // the only values there are; none = anything
  std::string help;
};

struct Positional {
  std::string name;  // "FILE", "T"
  std::string help;
  bool required = true;
  std::vector<std::string> words;  // the only values there are; none = anything
};

struct Command {
  std::string name, help;
  std::vector<Option> options;
  std::vector<Positional> positionals;
  std::vector<Command> commands;  // none = a verb

  const Command* Find(const std::string& word) const;  // nullptr when there is none
};

// The program with its verbs and groups of verbs (arguments.cpp).
Command WholeCommand();
const char* Epilogue();  // environment and exit codes, as at the end of `cox --help`

// The verb, group or option among `words` that there is not, with the nearest there is and all that
// there are; "" when all are known.
std::string UnknownWord(const Command& program, const std::vector<std::string>& words);

}  // namespace cox::cli

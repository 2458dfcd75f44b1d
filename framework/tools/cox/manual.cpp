#include "tools/cox/manual.hpp"

#include <algorithm>

namespace cox::cli {
namespace {

// A backslash, a hyphen that is meant as one, and a point or quote that begins a line have meanings
// of their own in roff.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Bold(const std::string& text) {
  return "\\fB" + Escaped(text) + "\\fR";
}

std::string Entry(const std::string& title, const std::string& help) {
  return ".TP\n" + title + "\n" + Escaped(help) + "\n";
}

std::string Title(const Option& option) {
  std::string title;
  for (const std::string& name : option.names) title += (title.empty() ? "" : ", ") + Bold(name);
  if (!option.value.empty()) title += " \\fI" + Escaped(option.value) + "\\fR";
  return title;
}

std::string HelpOf(const Option& option) {
  const bool told = option.words.empty() || option.help.find(option.words[0]) != std::string::npos;
  if (told) return option.help;
  std::string words;
  for (const std::string& word : option.words) words += (words.empty() ? "" : ", ") + word;
  return option.help + " (" + words + ")";
}

std::string Verbs(const Command& command, const std::string& path) {
  if (!command.commands.empty()) {
    std::string out;
    for (const Command& below : command.commands) out += Verbs(below, path + " " + below.name);
    return out;
  }
  std::string usage = Bold(path);
  for (const Positional& p : command.positionals) {
    const std::string name = "\\fI" + Escaped(p.name) + "\\fR";
    usage += " " + (p.required ? name : "[" + name + "]");
  }
  std::string out = ".SS " + usage + "\n" + Escaped(command.help) + "\n";
  for (const Positional& p : command.positionals) {
    out += Entry("\\fI" + Escaped(p.name) + "\\fR", p.help);
  }
  for (const Option& option : command.options) {
    if (option.names.back() != "--help") out += Entry(Title(option), HelpOf(option));
  }
  return out;
}

}  // namespace

std::string ManPage(const Command& program, const std::string& epilogue) {
  const std::string& help = program.help;  // "cox: what it does.\nT is a task: ..."
  const size_t colon = help.find(": "), end = help.find('\n');
  std::string out = ".TH COX 1 \"\" Coxswain\n.SH NAME\n" + program.name + " \\- " +
                    Escaped(help.substr(colon + 2, end - colon - 3)) + "\n.SH SYNOPSIS\n" +
                    Bold(program.name) + " [\\fIoptions\\fR] \\fIverb\\fR ...\n.SH DESCRIPTION\n" +
                    Escaped(help.substr(end + 1)) + "\n.SH OPTIONS\nThey may stand anywhere.\n";
  for (const Option& option : program.options) out += Entry(Title(option), HelpOf(option));
  out += ".SH VERBS\n";
  for (const Command& command : program.commands) {
    out += Verbs(command, program.name + " " + command.name);
  }
  out += ".SH ENVIRONMENT AND EXIT CODES\n.nf\n";
  for (size_t from = 0; from < epilogue.size();) {
    const size_t line_end = std::min(epilogue.find('\n', from), epilogue.size());
    out += Escaped(epilogue.substr(from, line_end - from)) + "\n";
    from = line_end + 1;
  }
  return out + ".fi\n";
}

}  // namespace cox::cli

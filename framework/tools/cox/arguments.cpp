#include "tools/cox/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <sstream>

#include "model/task.hpp"
#include "simulate/trace.hpp"
#include "spec/text.hpp"
#include "tools/cox/command.hpp"

namespace cox::cli {
namespace {

constexpr const char* kAbout =
    "cox: submit training jobs and see why they run or wait.\n"
    "T is a task: its name, a uuid, the batch system's job id, or the unambiguous start of one.";

constexpr const char* kFooter =
    "Environment:\n"
    "  COX_SOCKET   the daemon's socket (default /run/coxswain/cox.sock)\n"
    "  TZ           time zone of printed times; `describe` uses the job's own\n"
    "  NO_COLOR     no colour, even on a terminal\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  refused, not possible now, or it went wrong; the reason is on stderr\n"
    "  2  the command line is wrong\n"
    "  3  no such task, policy or file, or not yours to see\n"
    "  4  you may not do this\n"
    "  5  no daemon answers at the socket, or it cannot just now; try again";

// -l a=1,b=2, repeatable; several labels mean AND (S116).
std::string ReadLabels(const std::vector<std::string>& pairs,
                       std::map<std::string, std::string>& to) {
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) return "\"" + pair + "\" is not key=value";
    to[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return "";
}

std::vector<std::string> States() {
  std::vector<std::string> states;
  for (int i = 0; i <= static_cast<int>(model::State::kStopped); ++i) {
    states.emplace_back(model::Name(static_cast<model::State>(i)));
  }
  return states;
}

bool SameButForCase(const std::string& a, const std::string& b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

class Parser {
 public:
  Parser() : app_(kAbout, "cox") {
    app_.footer(kFooter);
    app_.require_subcommand(1);
    app_.fallthrough();  // -o and --socket may stand anywhere
    app_.set_version_flag("--version", "cox " COX_VERSION);
    app_.add_option("--socket", args_.socket, "the daemon's socket")
        ->envname("COX_SOCKET")
        ->type_name("PATH")
        ->default_str("/run/coxswain/cox.sock");
    args_.socket = "/run/coxswain/cox.sock";
    OneOf(app_.add_option_function<std::string>(
              "-o,--output",
              [this](const std::string& word) {
                args_.format = word == "json"   ? Format::kJson
                               : word == "yaml" ? Format::kYaml
                                                : Format::kTable;
              },
              "how to print: table, json or yaml"),
          "FORMAT", {"table", "json", "yaml"});
    Jobs();
    Capacity();
    NodePolicies();
    Site();
    Scenarios();
    Simulations();
    Manuals();
  }

  std::variant<Arguments, Leave> Parse(const std::vector<std::string>& words) {
    try {
      app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as CLI11 has it
    } catch (const CLI::ParseError& error) {
      std::ostringstream out, err;
      const int code = app_.exit(error, out, err);
      const std::string unknown = code == 0 ? "" : UnknownWord(Described(), words);
      if (!unknown.empty()) return Leave{kUsage, "", "cox: " + unknown + "\n"};
      return Leave{code == 0 ? kOk : kUsage, out.str(), err.str()};
    }
    return args_;
  }

  Command Described() const { return Describe(app_); }

 private:
  Command Describe(const CLI::App& app) const {
    Command command{app.get_name(), app.get_description(), {}, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
      const auto found = words_.find(option);
      const auto words = found == words_.end() ? std::vector<std::string>() : found->second;
      if (option->get_positional()) {
        command.positionals.push_back(
            {option->get_name(true), option->get_description(), option->get_required(), words});
        continue;
      }
      Option one{{}, "", words, option->get_description()};
      for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      if (option->get_items_expected_max() > 0) one.value = option->get_type_name();
      command.options.push_back(std::move(one));
    }
    for (const CLI::App* below : app.get_subcommands({})) {
      command.commands.push_back(Describe(*below));
    }
    return command;
  }

  // The option takes one of these words, in upper or lower case.
  void OneOf(CLI::Option* option, const std::string& name, std::vector<std::string> words) {
    words_[option] = words;
    option->type_name(name)->option_text(name);
    const auto check = [words = std::move(words)](std::string& word) -> std::string {
      const auto same =
          std::ranges::find_if(words, [&](const auto& w) { return SameButForCase(w, word); });
      if (same == words.end()) {
        return spec::Quote(word) + " is not one of " + spec::Join(words) +
               spec::DidYouMean(word, words);
      }
      word = *same;
      return "";
    };
    option->transform(CLI::Validator(check, ""));
  }
  CLI::App* Verb(CLI::App& parent, const std::string& name, const char* help) {
    CLI::App* verb = parent.add_subcommand(name, help);
    verb->fallthrough();
    verb->footer("");  // else the program's
    const std::string full = &parent == &app_ ? name : parent.get_name() + " " + name;
    verb->callback([this, verb, full] {
      if (verb->get_subcommands({}).empty()) args_.verb = full;
    });
    return verb;
  }
  CLI::App* Group(const std::string& name, const char* help) {
    CLI::App* group = app_.add_subcommand(name, help);
    group->require_subcommand(1);
    group->fallthrough();
    group->footer("");
    return group;
  }
  void Target(CLI::App* verb, const char* name, const char* help, bool required = true) {
    verb->add_option(name, args_.target, help)->required(required)->option_text(" ");
  }

  void Jobs() {
    CLI::App* submit = Verb(app_, "submit", "submit a job file (YAML or JSON)");
    Target(submit, "FILE", "the job file; - reads standard input");
    submit->add_flag("--dry-run", args_.dry_run, "only say what would become of it");

    CLI::App* list = Verb(app_, "list", "jobs you may see");
    list->add_option_function<std::vector<std::string>>(
            "-l,--label",
            [this](const std::vector<std::string>& pairs) {
              const std::string wrong = ReadLabels(pairs, args_.labels);
              if (!wrong.empty()) throw CLI::ValidationError("--label", wrong);
            },
            "only jobs with all of these labels")
        ->delimiter(',')
        ->type_name("K=V");
    list->add_flag("--mine", args_.mine, "only your own");
    list->add_flag("--all", args_.all, "also those that have ended");
    OneOf(list->add_option("--state", args_.states, "only these states")->delimiter(','), "STATE",
          States());

    Target(Verb(app_, "get", "the whole record of a task; see -o"), "T", "task");
    Target(Verb(app_, "describe", "state, reason, queue, attempts and events of a task"), "T",
           "task");
    Target(Verb(app_, "explain", "everything that keeps a task from starting"), "T", "task");

    CLI::App* logs = Verb(app_, "logs", "output of a task");
    Target(logs, "T", "task");
    logs->add_flag("-f,--follow", args_.follow, "go on until the task ends");
    OneOf(logs->add_option("--role", args_.role, "whose: master, worker, head, submitter"), "ROLE",
          {"master", "worker", "head", "submitter"});
    logs->add_option("--attempt", args_.attempt, "which attempt; the last one by default")
        ->type_name("N");

    Target(Verb(app_, "stop", "end a task; its nodes and quota come back"), "T", "task");
    CLI::App* events = Verb(app_, "events", "what happened, oldest first");
    Target(events, "T", "only of this task", false);
    events->add_flag("-f,--follow", args_.follow, "go on with what happens");
  }

  void Capacity() {
    Target(Verb(app_, "quota", "limits and use at each level"), "SUBJECT",
           "only of this tenant, project or user", false);
    Verb(app_, "pool", "what is free now; a look, not a reservation");
    OneOf(
        Verb(app_, "flavors", "what may be asked for")
            ->add_option("--capacity-type", args_.capacity_type, "only what this type offers now"),
        "TYPE", {"reserved", "on-demand", "spot", "idle"});
    Verb(app_, "nodes", "nodes as the daemon sees them");
    Verb(*Group("ledger", "the quota ledger"), "check",
         "is use equal to the sum of live allocations?");
  }

  void NodePolicies() {
    CLI::App* group = Group("nodepolicy", "pin to nodes or keep off them");
    CLI::App* create = Verb(*group, "create", "add a policy; it ends by itself");
    OneOf(create->add_option("--type", args_.type, "NodeIn or NodeNotIn; NodeNotIn by default"),
          "TYPE", {"NodeIn", "NodeNotIn"});
    CLI::Option* nodes = create->add_option("--nodes", args_.nodes, "names, with commas between")
                             ->delimiter(',')
                             ->type_name("N1,N2");
    CLI::Option* job =
        create->add_option("--from-job", args_.from_job, "the nodes of this task")->type_name("T");
    nodes->excludes(job);
    create
        ->add_option_function<std::string>(
            "--ttl",
            [this](const std::string& text) {
              const auto seconds = ParseSeconds(text);
              if (!seconds) throw CLI::ValidationError("--ttl", seconds.error().text);
              args_.ttl_seconds = *seconds;
            },
            "how long: 60s to 72h")
        ->required()
        ->type_name("TIME");
    create->add_flag("--tenant", args_.tenant_scope, "for the whole tenant; administrators only");
    create->add_option("--reason", args_.reason, "for whoever wonders later")->type_name("TEXT");
    create->parse_complete_callback([nodes, job] {
      if (nodes->empty() && job->empty()) {
        throw CLI::RequiredError("--nodes or --from-job");
      }
    });
    Verb(*group, "list", "policies in effect that concern you")
        ->add_flag("--all", args_.all, "also those that have ended");
    Target(Verb(*group, "delete", "end a policy now"), "ID", "np-<number>");
  }

  void Site() {
    Target(
        Verb(*Group("config", "the site file"), "check", "is this site file right? Asks no daemon"),
        "FILE", "the site file");
    app_.get_subcommand("config")
        ->get_subcommand("check")
        ->add_option("--plugin-dir", args_.plugin_directory,
                     "where relative plugin paths start; default: the file's own pluginDir")
        ->type_name("DIR");
    CLI::App* plugins = Group("plugin", "scheduling plugins");
    Verb(*plugins, "ls", "the daemon's instances, what they offer and how they do");
    Target(Verb(*plugins, "inspect", "what a library says about itself; runs none of its code"),
           "FILE", "the .so");
    Target(Verb(*plugins, "schema", "the JSON Schema of a plugin's config; runs none of its code"),
           "FILE", "the .so");
    CLI::App* check = Verb(*plugins, "check", "load a plugin and make one instance");
    Target(check, "FILE", "the .so");
    check->add_option("--config", args_.plugin_config, "its config as JSON")->type_name("JSON");
    Verb(app_, "reload", "make the daemon read its site file again, all or nothing");
    Verb(app_, "health", "is the daemon deciding?");
  }

  void Scenarios() {
    CLI::App* run =
        Verb(*Group("scenario", "try a policy on a cluster that exists in a file"), "run",
             "run scenario files and compare with what they expect. Asks no daemon");
    run->add_option("FILES", args_.files, "scenario files (docs/scenarios.md)")
        ->required()
        ->option_text(" ");
    run->add_flag("--show", args_.show, "what came of each job, also when it is right");
    run->add_option("--plugin-dir", args_.plugin_directory,
                    "where relative plugin paths start; default: the built-in plugins")
        ->type_name("DIR");
  }

  // A time in words: "15m".
  CLI::Option* Time(CLI::App* verb, const char* name, const char* help, int64_t& seconds) {
    const auto read = [name, &seconds](const std::string& text) {
      const auto read_seconds = ParseSeconds(text);
      if (!read_seconds) throw CLI::ValidationError(name, read_seconds.error().text);
      seconds = *read_seconds;
    };
    return verb->add_option_function<std::string>(name, read, help)->type_name("TIME");
  }

  void Simulations() {
    CLI::App* verb = Verb(app_, "simulate", "replay a trace under one or several configurations");
    Target(verb, "TRACE",
           "the trace, or a scenario file (docs/simulate.md); - reads standard input");
    verb->add_option("--config", args_.configs, "a site file; once for each to compare")
        ->allow_extra_args(false)
        ->type_name("FILE");
    verb->add_flag("--baseline", args_.baseline, "compare with strict FIFO, too");
    verb->add_option("--nodes", args_.cluster,
                     "nodes, if the trace has none: 16x8:h100, POOL=16x8, or a list")
        ->allow_extra_args(false)
        ->type_name("NODES");
    OneOf(verb->add_option("--format", args_.trace_format,
                           "how to read the trace; default: by its first line"),
          "FORMAT", simulate::Formats());
    verb->add_option("--tenant", args_.tenant, "only the jobs of this tenant")->type_name("NAME");
    Time(verb, "--checkpoint", "jobs save their work so often; default: never",
         args_.checkpoint_seconds);
    verb->add_option("--html", args_.html, "write a page with plots")->type_name("FILE");
    verb->add_option_function<std::string>(
            "--window", [this](const std::string& text) { ReadWindow(text); },
            "what the page's gantt chart shows: 2d,50h; default: the busiest time")
        ->type_name("FROM,TO");
    verb->add_option("--plugin-dir", args_.plugin_directory,
                     "where relative plugin paths start; default: the built-in plugins")
        ->type_name("DIR");
  }

  void ReadWindow(const std::string& text) {
    const size_t comma = text.find(',');
    const auto from = ParseSeconds(text.substr(0, comma));
    const auto to = ParseSeconds(comma == text.npos ? "" : text.substr(comma + 1));
    if (!from || !to || *from >= *to) {
      throw CLI::ValidationError("--window", "\"" + text + "\" is not like 2d,50h");
    }
    args_.window = std::pair(*from, *to);
  }

  void Manuals() {
    CLI::App* completion =
        Verb(app_, "completion", "what makes a shell complete verbs and options");
    OneOf(completion->add_option("SHELL", args_.target, "bash or zsh")->required(), "SHELL",
          {"bash", "zsh"});
    Verb(app_, "man", "this program's manual page, for man -l -");
  }

  CLI::App app_;
  Arguments args_;
  std::map<const CLI::Option*, std::vector<std::string>> words_;  // of OneOf()
};

}  // namespace

Command WholeCommand() {
  return Parser().Described();
}

const char* Epilogue() {
  return kFooter;
}

std::variant<Arguments, Leave> ParseArguments(const std::vector<std::string>& words) {
  return Parser().Parse(words);
}

Result<int64_t> ParseSeconds(const std::string& text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const int64_t factor = unit.empty() || unit == "s" ? 1
                         : unit == "m"               ? 60
                         : unit == "h"               ? 3600
                         : unit == "d"               ? 86400
                                                     : 0;
  if (failed != std::errc{} || factor == 0 || number < 0 || number > 1'000'000'000) {
    return InvalidArgument("\"" + text + "\" is not a time; write 90s, 15m, 2h or 1d");
  }
  return number * factor;
}

}  // namespace cox::cli

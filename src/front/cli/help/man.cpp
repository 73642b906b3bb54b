#include <fmt/format.h>

#include <sstream>

#include "base/error.h"
#include "front/cli/command.h"
#include "front/cli/help/command_tree.h"

namespace edict::cli {
namespace {

// Text as troff takes it: its own signs escaped, and no line that would begin like a request.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else if (c == '`')
      result += "\\(ga";
    else if (c == '^')
      result += "\\(ha";
    else if (c == '~')
      result += "\\(ti";
    else
      result += c;
  }
  if (result.starts_with('.')) result.insert(0, "\\&");
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }

std::string page_name(const CLI::App& app) {
  std::string name = full_name(app);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return text;
}

void add_options(std::string& page, const CLI::App& app, const char* heading) {
  for (const CLI::Option* argument : arguments_of(app)) {
    const OptionShape shape(*argument);
    page += fmt::format(".TP\n\\fI{}\\fR\n{}\n", escaped(shape.value), escaped(shape.help));
  }
  if (*heading) page += fmt::format(".SH {}\n", heading);
  for (const CLI::Option* option : options_of(app)) {
    const OptionShape shape(*option);
    std::string names;
    for (const std::string& name : shape.names) names += (names.empty() ? "" : ", ") + bold(name);
    page += fmt::format(".TP\n{}{}\n{}\n", names,
                        shape.value.empty() ? "" : " \\fI" + escaped(shape.value) + "\\fR",
                        escaped(shape.help));
  }
}

// The examples as they stand at the end of the help text: commands after two blanks, and what they
// do before them.
void add_examples(std::string& page, const CLI::App& app) {
  std::istringstream lines(app.get_footer());
  std::string line;
  bool begun = false;
  while (std::getline(lines, line)) {
    if (!line.starts_with("  ")) continue;
    line.erase(0, 2);
    if (line.starts_with("# "))
      page += fmt::format("{}\n{}\n", begun ? ".PP" : ".SH EXAMPLES", escaped(line.substr(2)));
    else
      page += fmt::format(".RS 4\n.nf\n{}\n.fi\n.RE\n", bold(line));
    begun = true;
  }
}

constexpr const char* kExitStatus =
    ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n2\nthe input, or a path that may not be read or written; "
    "one line on standard error says what and where\n.TP\n130, 143\nstopped by Ctrl\\-C, by "
    "SIGTERM\n.TP\n1\nthe machine (no space, no memory, a disk that fails), a fault of the "
    "program, "
    "or a failed run of \\fBreproduce\\fR\n";

std::string manual_page(const CLI::App& app) {
  std::string page = fmt::format(".TH {} 1 \"\" \"edict {}\" \"edict manual\"\n",
                                 escaped(page_name(app)), EDICT_VERSION);
  const std::string about = app.get_description();
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(page_name(app)),
                      escaped(app.get_parent() ? about
                                               : "evidential distributions in continuous "
                                                 "time for irregular time series"));
  page += ".SH SYNOPSIS\n";
  const auto below = commands_of(app);
  if (below.empty()) {
    page += bold(usage_of(app)) + "\n";
  } else {
    for (const CLI::App* command : below)
      page += (command == below.front() ? "" : ".br\n") + bold(usage_of(*command)) + "\n";
  }
  page += fmt::format(".SH DESCRIPTION\n{}\n", escaped(sentence(about)));
  if (!app.get_parent()) {
    page +=
        "Data are CSV files, a row an event or a row an observation; a model is one file. The name "
        "\\- is standard input or standard output. Files are replaced only when they are whole.\n";
    page += ".SH COMMANDS\n";
    for (const CLI::App* command : below)
      page += fmt::format(".TP\n\\fBedict\\-{}\\fR(1)\n{}\n", escaped(command->get_name()),
                          escaped(command->get_description()));
    page += ".SH OPTIONS\n";
    add_options(page, app, "");
  } else if (!below.empty()) {
    for (const CLI::App* command : below) {
      page += fmt::format(".SS {}\n{}\n", escaped(full_name(*command)),
                          escaped(sentence(command->get_description())));
      add_options(page, *command, "");
    }
  } else {
    add_options(page, app, "OPTIONS");
  }
  add_examples(page, app);
  page += kExitStatus;
  page += app.get_parent() ? ".SH SEE ALSO\n\\fBedict\\fR(1)\n" : "";
  return page;
}

}  // namespace

void add_man(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "man", "Print the manual page of edict or of a command, as troff for `man -l -`");
  command->add_option("command", *names, "which one, as train")->type_name("COMMAND");
  command->callback([&app, names] {
    const CLI::App& found = find_command(app, *names);
    if (names->size() > 1)
      throw Error(fmt::format("{} has no page of its own; it stands in that of {}",
                              full_name(found), names->front()));
    fmt::print("{}", manual_page(found));
  });
}

}  // namespace edict::cli

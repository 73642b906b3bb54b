#include "front/cli/help/completion.h"

#include <fmt/core.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string_view>

#include "front/cli/command.h"
#include "front/cli/help/command_tree.h"

namespace edict::cli {
namespace {

using Candidates = std::vector<Completions::Candidate>;

// What is to be written after an option or as an argument is known by what its value is called.
bool names_a_file(std::string_view value) {
  static const std::set<std::string_view> kFiles = {"FILE", "DIR",    "MODEL",
                                                    "CLF",  "FOLDER", "DATA"};
  static const std::regex kExtension("[A-Z]+\\.[a-z]+");  // as DATA.csv or PAGE.html
  for (std::size_t from = 0; from <= value.size();) {
    const std::size_t end = std::min(value.find('|', from), value.size());
    const std::string_view one = value.substr(from, end - from);
    if (kFiles.contains(one) || std::regex_match(one.begin(), one.end(), kExtension)) return true;
    from = end + 1;
  }
  return false;
}

// "model.kind=gru-d": the key, and behind the sign what it may be.
Candidates assignments(const std::string& typed) {
  Config config;
  const settings::Keys all = keys(config);
  Candidates found;
  const std::size_t sign = typed.find('=');
  for (const settings::Key& key : all) {
    if (sign == std::string::npos) {
      found.push_back({key.name + "=", key.help});
      continue;
    }
    if (typed.substr(0, sign) != key.name) continue;
    std::vector<std::string> values = key.choices;
    if (key.kind == settings::Key::Kind::flag) values = {"true", "false"};
    if (key.may_be_auto) values.emplace_back(settings::kAuto);
    if (values.empty()) values.push_back(settings::value_text(key));  // at least what it is now
    for (const std::string& value : values) found.push_back({key.name + "=" + value, ""});
  }
  return found;
}

Candidates setting_names() {
  Config config;
  Candidates found;
  for (const settings::Key& key : keys(config)) found.push_back({key.name, key.help});
  return found;
}

Candidates command_names(const CLI::App& app) {
  Candidates found;
  for (const CLI::App* command : commands_of(app))
    found.push_back({command->get_name(), command->get_description()});
  return found;
}

// The commands below those already typed, for `edict help import …`.
Candidates names_below(const CLI::App& app, const std::vector<std::string>& typed) {
  const CLI::App* at = &app;
  for (const std::string& name : typed) {
    const auto commands = commands_of(*at);
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* command) {
      return command->get_name() == name;
    });
    if (found == commands.end()) return {};
    at = *found;
  }
  return command_names(*at);
}

// What an option or argument takes, given what stands there already.
Completions values(const CLI::Option& option, const std::string& typed) {
  const OptionShape shape(option);
  Completions result;
  if (!shape.choices.empty()) {
    // Of a list, only the part after the last comma is being typed.
    const std::size_t comma = shape.list ? typed.rfind(',') : std::string::npos;
    const std::string before = comma == std::string::npos ? "" : typed.substr(0, comma + 1);
    for (const std::string& choice : shape.choices)
      result.candidates.push_back({before + choice, ""});
  } else if (shape.value.starts_with("KEY=")) {
    result.candidates = assignments(typed);
  } else if (shape.value == "KEY") {
    result.candidates = setting_names();
  } else {
    result.files = names_a_file(shape.value);
  }
  return result;
}

const CLI::Option* option_called(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : options_of(app))
    for (const std::string& own : OptionShape(*option).names)
      if (own == name) return option;
  return nullptr;
}

bool takes_a_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Where the words before the one being typed have led.
struct Place {
  explicit Place(const CLI::App& at) : command(&at) {}

  const CLI::App* command;
  const CLI::Option* waiting = nullptr;  // an option whose value comes next
  std::set<const CLI::Option*> given;
  std::vector<std::string> arguments;  // without a name
};

Place descend(const CLI::App& app, const std::vector<std::string>& words) {
  Place place(app);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.waiting) {
      place.waiting = nullptr;
      continue;
    }
    if (word.size() > 1 && word.starts_with('-')) {
      const std::size_t sign = word.find('=');
      const CLI::Option* option = option_called(*place.command, word.substr(0, sign));
      if (!option) continue;
      place.given.insert(option);
      if (takes_a_value(*option) && sign == std::string::npos) place.waiting = option;
      continue;
    }
    const auto commands = commands_of(*place.command);
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* command) {
      return command->get_name() == word;
    });
    if (found != commands.end())
      place = Place(**found);
    else
      place.arguments.push_back(word);
  }
  return place;
}

Candidates options(const Place& place) {
  Candidates found;
  for (const CLI::Option* option : options_of(*place.command)) {
    const OptionShape shape(*option);
    if (place.given.contains(option) && !shape.repeats) continue;
    found.push_back({shape.names.back(), shape.help});
  }
  return found;
}

}  // namespace

Completions completions(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const std::string& typed = words.back();
  const Place place = descend(app, words);
  Completions result;
  const std::size_t sign = typed.find('=');
  if (place.waiting) {
    result = values(*place.waiting, typed);
  } else if (typed.starts_with("--") && sign != std::string::npos) {
    const CLI::Option* option = option_called(*place.command, typed.substr(0, sign));
    if (option && takes_a_value(*option)) result = values(*option, typed.substr(sign + 1));
    for (auto& candidate : result.candidates)
      candidate.text = typed.substr(0, sign + 1) + candidate.text;
  } else if (typed.starts_with('-')) {
    result.candidates = options(place);
  } else if (!commands_of(*place.command).empty()) {
    result.candidates = command_names(*place.command);
  } else {
    const auto arguments = arguments_of(*place.command);
    if (!arguments.empty() && OptionShape(*arguments.front()).value == "COMMAND")
      result.candidates = names_below(app, place.arguments);
    else if (place.arguments.size() < arguments.size())
      result = values(*arguments[place.arguments.size()], typed);
    else if (typed.empty())
      result.candidates = options(place);
  }
  std::erase_if(result.candidates,
                [&](const auto& candidate) { return !candidate.text.starts_with(typed); });
  return result;
}

void print_completions(const CLI::App& app, const std::vector<std::string>& words) {
  const Completions found = completions(app, words);
  for (const auto& candidate : found.candidates)
    fmt::print("{}\t{}\n", candidate.text, candidate.help);
  if (found.files) fmt::print(":files\n");
}

void add_completion(CLI::App& app) {
  struct Script {
    const char *shell, *text;
  };
  static constexpr Script kScripts[] = {
      {"bash", R"script(# Completion of edict for bash: source <(edict completion bash)
_edict() {
  local line=${COMP_LINE:0:COMP_POINT} words word text help
  read -a words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  word=${words[-1]}
  # Bash itself splits a word at = and : and replaces only what stands behind the last of them.
  local before=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r text help; do
    if [[ $text == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r text; do COMPREPLY+=("$text"); done < <(compgen -f -- "${word##*[=:]}")
    else
      [[ $text == *= ]] && compopt -o nospace 2>/dev/null
      COMPREPLY+=("${text#"$before"}")
    fi
  done < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _edict edict
)script"},
      {"zsh", R"script(#compdef edict
# Completion of edict for zsh: source <(edict completion zsh), or as _edict in a folder of $fpath
_edict() {
  local text help files=0
  local -a plain open shown_plain shown_open
  while IFS=$'\t' read -r text help; do
    if [[ $text == :files ]]; then
      files=1
    elif [[ $text == *= ]]; then
      open+=("$text"); shown_open+=("$text${help:+  -- $help}")
    else
      plain+=("$text"); shown_plain+=("$text${help:+  -- $help}")
    fi
  done < <("${words[1]/#\~/$HOME}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${#plain} )) && compadd -l -d shown_plain -a plain
  (( ${#open} )) && compadd -l -S '' -d shown_open -a open
  (( files )) && _files
  return 0
}
if [[ ${funcstack[1]} == _edict ]]; then _edict "$@"; else compdef _edict edict; fi
)script"},
      {"fish", R"script(# Completion of edict for fish: edict completion fish | source
function __edict_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c edict -f -a '(__edict_complete)'
)script"}};
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "completion", "Print a script with which a shell completes commands, options and values");
  command->add_option("shell", *shell, "which shell")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->callback([shell] {
    for (const Script& script : kScripts)
      if (*shell == script.shell) fmt::print("{}", script.text);
  });
}

}  // namespace edict::cli

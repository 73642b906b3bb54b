// What helps at the prompt: completion in real shells, manual pages that troff accepts, help whose
// examples run, and JSON that says what the text says.
#include <algorithm>
#include <set>
#include <sstream>

#include "base/json/json.h"
#include "cli/tool.h"

namespace edict {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Prompt : public ToolTest {
 protected:
  // What may follow these words, without what is said of it.
  std::set<std::string> completions(const std::string& words) const {
    const Outcome outcome = edict("__complete " + words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::set<std::string> found;
    for (const std::string& line : lines_of(outcome.out))
      found.insert(line.substr(0, line.find('\t')));
    return found;
  }
  std::set<std::string> commands() const { return completions("''"); }

  // What bash offers when the tabulator is pressed at the end of a line.
  std::set<std::string> in_bash(const std::string& line) const {
    write("edict", "#!/bin/sh\nexec '" EDICT_TOOL "' \"$@\"\n");
    std::filesystem::permissions(path() / "edict", std::filesystem::perms::owner_all);
    write("ask.sh",
          "PATH=\"$PWD:$PATH\"\nsource <(edict completion bash)\n"
          "compopt() { :; }\n"  // only exists while bash itself completes
          "COMP_LINE=$1 COMP_POINT=${#1}\n_edict\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    const std::string command =
        "cd '" + path().string() + "' && bash --norc ask.sh '" + line + "' >.reply 2>.problems";
    EXPECT_EQ(std::system(command.c_str()), 0) << read(".problems");
    EXPECT_EQ(read(".problems"), "");
    const auto lines = lines_of(read(".reply"));
    return {lines.begin(), lines.end()};
  }
};

using Words = std::set<std::string>;

TEST_F(Prompt, CompletesCommandsOptionsAndValues) {
  EXPECT_TRUE(commands().contains("train"));
  EXPECT_FALSE(commands().contains("__complete"));
  EXPECT_EQ(completions("tr"), Words{"train"});
  EXPECT_EQ(completions("import ge"), Words{"gestures"});
  EXPECT_EQ(completions("train d.csv --mem"), Words{"--members"});
  EXPECT_EQ(completions("evaluate m d.csv --split ''"),
            (Words{"train", "validation", "test", "unseen", "all"}));
  EXPECT_EQ(completions("evaluate --split=va"), Words{"--split=validation"});
  EXPECT_EQ(completions("train --model gru-d"), Words{"gru-d"});
  EXPECT_EQ(completions("completion f"), Words{"fish"});
  EXPECT_EQ(completions("help imp"), (Words{"import", "impute"}));
  EXPECT_EQ(completions("help import act"), Words{"activity"});
}

TEST_F(Prompt, CompletesSettingsAndWhatTheyMayBe) {
  EXPECT_EQ(completions("train d.csv --set model.hid"), Words{"model.hidden="});
  EXPECT_EQ(
      completions("train d.csv --set train.schedule="),
      (Words{"train.schedule=constant", "train.schedule=cosine", "train.schedule=square-root"}));
  EXPECT_EQ(completions("train d.csv --set train.calibrate=t"), Words{"train.calibrate=true"});
}

TEST_F(Prompt, OffersFilesWhereFilesGoAndNoOptionTwice) {
  EXPECT_EQ(completions("train ''"), Words{":files"});
  EXPECT_EQ(completions("train d.csv --out ''"), Words{":files"});
  EXPECT_EQ(completions("train d.csv --config ''"), Words{":files"});
  EXPECT_FALSE(completions("train d.csv --resume --").contains("--resume"));
  EXPECT_TRUE(completions("train d.csv --set a=1 --").contains("--set"));
  EXPECT_EQ(completions("generate synthetic --series ''"), Words{});
}

TEST_F(Prompt, BashCompletes) {
  EXPECT_EQ(in_bash("edict tr"), Words{"train"});
  EXPECT_EQ(in_bash("edict predict m d.csv --guard e"), Words{"edgr"});
  EXPECT_EQ(in_bash("edict train d.csv --set model.hid"), Words{"model.hidden="});
  // Behind = and : bash replaces only the last part.
  EXPECT_EQ(in_bash("edict train d.csv --set train.schedule=co"), (Words{"constant", "cosine"}));
  write("my data.csv", "");
  write("my.model", "");
  EXPECT_EQ(in_bash("edict evaluate my"), (Words{"my data.csv", "my.model"}));
  EXPECT_TRUE(in_bash("edict train d.csv ").contains("--out"));
}

// As a user meets it: an interactive bash on a terminal, and the tabulator.
TEST_F(Prompt, BashCompletesAtATerminal) {
  in_bash("edict ");  // writes the program's stand-in
  write("rc", "PATH=\"$PWD:$PATH\"\nsource <(edict completion bash)\nPS1='> '\n");
  write("keys", "edict compl\tba\t >done\nexit\n");
  const std::string command = "cd '" + path().string() +
                              "' && (sleep 1; cat keys; sleep 2) | timeout 20 script -qec 'bash "
                              "--noprofile --rcfile rc -i' /dev/null >.screen 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << read(".screen");
  EXPECT_NE(read("done").find("complete -F _edict edict"), std::string::npos) << read(".screen");
}

TEST_F(Prompt, HelpOfACommandIsItsHelpOption) {
  EXPECT_EQ(edict("help train").out, edict("train --help").out);
  EXPECT_EQ(edict("help import gestures").out, edict("import gestures --help").out);
  EXPECT_EQ(edict("help").out, edict("--help").out);
  const Outcome wrong = edict("help trian");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("did you mean 'train'"), std::string::npos) << wrong.err;
}

TEST_F(Prompt, EveryCommandHasAManualPageThatTroffAccepts) {
  std::set<std::string> pages = commands();
  pages.insert("");
  for (const std::string& command : pages) {
    const Outcome page = edict("man " + command);
    ASSERT_EQ(page.code, 0) << page.err;
    EXPECT_TRUE(page.out.starts_with(".TH edict")) << page.out.substr(0, 40);
    EXPECT_NE(page.out.find(".SH SYNOPSIS"), std::string::npos);
    write("page", page.out);
    const std::string troff = "groff -man -Tutf8 -ww -K utf8 '" + (path() / "page").string() +
                              "' >/dev/null 2>'" + (path() / "warnings").string() + "'";
    EXPECT_EQ(std::system(troff.c_str()), 0) << command;
    EXPECT_EQ(read("warnings"), "") << command;
  }
}

// Every command has examples, and they do what they say; what needs downloads or minutes is only
// parsed.
TEST_F(Prompt, ExamplesInTheHelpRun) {
  ASSERT_EQ(edict("generate synthetic --out waves.csv --series 200").code, 0);
  int run = 0;
  const auto examples = [&](const std::string& command) {
    std::vector<std::string> found;
    for (const std::string& line : lines_of(edict("help " + command).out))
      if (line.starts_with("  edict ")) found.push_back(line.substr(8));
    return found;
  };
  for (const std::string command :
       {"train", "classify", "calibrate", "info", "init", "settings", "search", "predict", "impute",
        "evaluate", "explore", "stress", "help"}) {
    const auto own = examples(command);
    EXPECT_FALSE(own.empty()) << command;
    for (std::string line : own) {
      if (command == "train" || command == "search") line += kTiny;
      if (command == "search") line += " --rungs 1";
      const Outcome outcome = edict(line);
      EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
      ++run;
    }
  }
  EXPECT_GE(run, 12);
  const Outcome import = edict(examples("import").at(0));
  EXPECT_EQ(import.code, 2);
  EXPECT_EQ(import.err.find("try --help"), std::string::npos) << import.err;
  for (const std::string& command : commands())
    EXPECT_NE(edict("help " + command).out.find("\nExamples:\n"), std::string::npos) << command;
}

TEST_F(Prompt, JsonSaysWhatTheTextSays) {
  ASSERT_EQ(edict("generate synthetic --out d.csv --series 80").code, 0);
  const auto json = [&](const std::string& arguments) {
    const Outcome outcome = edict(arguments + " --json -");
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
    return nlohmann::json::parse(outcome.out);  // nothing else is on standard output
  };
  EXPECT_EQ(json("info d.csv").at("series"), 80);
  const auto trained = json("train d.csv --out m --members 2" + kTiny);
  EXPECT_EQ(trained.at("members").size(), 2u);
  EXPECT_EQ(trained.at("members")[1].at("seed"), 1);
  const auto info = json("info m");
  EXPECT_EQ(info.at("members"), 2);
  EXPECT_EQ(info.at("config").at("model").at("hidden"), 6);
  const auto classified = json("classify m d.csv --out c --set classify.epochs=2");
  EXPECT_EQ(classified.at("runs").size(), 6u);
  const auto searched =
      json("search d.csv --out trials --budget 1 --rungs 1 --range model.hidden=4,6" + kTiny);
  EXPECT_EQ(searched.at("runs").size(), 1u);
}

}  // namespace
}  // namespace edict

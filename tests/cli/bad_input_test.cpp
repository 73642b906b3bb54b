// Bad input of every kind ends in one clear line, exit code 2, and no file left behind.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cli/tool.h"
#include "model/model.h"

namespace edict {
namespace {

struct BadData {
  const char* name;
  std::string csv;
  std::string message;  // must appear in the one line

  friend void PrintTo(const BadData& bad, std::ostream* out) { *out << bad.name; }
};

class BadDataTest : public ToolTest, public testing::WithParamInterface<BadData> {};

TEST_P(BadDataTest, OneLineExitCodeTwoNothingLeft) {
  write("data.csv", GetParam().csv);
  for (const std::string& command :
       {std::string("train data.csv --out m" + kTiny), std::string("info data.csv")}) {
    const Outcome outcome = edict(command);
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_NE(outcome.err.find(GetParam().message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(files(), 1u) << command;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadDataTest,
    testing::Values(
        BadData{"empty", "", "data.csv"}, BadData{"header_only", "id,time,x\n", "data.csv"},
        BadData{"text", "id,time,x\na,0,1\na,1,abc\n", "data.csv:3: column 'x'"},
        BadData{"infinite", "id,time,x\na,0,1\na,inf,1\n", "data.csv:3: column 'time'"},
        BadData{"changing_label", "id,time,x,label\na,0,1,p\na,1,2,q\n", "column 'label'"},
        BadData{"ragged", "id,time,x\na,0,1\na,1\n", "data.csv:3"},
        BadData{"marked_utf8_but_latin1", "\xef\xbb\xbfid,time,x\na,0,1\nM\xfcller,0,1\n",
                "data.csv: begins as UTF-8"},
        BadData{"damaged_gzip", "\x1f\x8b\x08 nothing of the kind",
                "data.csv: is compressed and damaged"},
        BadData{"quantity_as_label", "id,time,x,label\na,0,1,0.5\nb,0,1,0.7\n",
                "column 'label': numbers that are not whole"},
        BadData{"no_id", "time,place,x\n0,in,1\n0,out,2\n1,in,3\n", "--id"},
        BadData{"pairs", "id,time,bp\na,0,120/80\n", "holds two numbers"},
        BadData{"units", "id,time,x\na,0,5 mmol/L\na,1,90 mg/dL\n", "another unit than mmol/L"},
        BadData{"month_or_day", "id,time,x\na,03/04/2024,1\n", "--time-format"},
        BadData{"parquet", "PAR1 and so on", "this looks like a Parquet file; export it as CSV"},
        BadData{"workbook", std::string("PK\x03\x04 xl/workbook.xml"), "an Excel workbook (.xlsx)"},
        BadData{"sqlite", std::string("SQLite format 3\0 ", 17), "an SQLite database"},
        BadData{"json", "[{\"id\": 1}]", "this looks like JSON; export it as CSV"},
        BadData{"sql", "-- MySQL dump 10\nCREATE TABLE t (x int);\n", "an SQL dump"},
        BadData{"pdf", "%PDF-1.7\n", "a PDF document; give the table as CSV"},
        BadData{"binary", std::string("id,time,x\na,0,\0\n", 16), "data.csv"}),
    [](const auto& bad) { return bad.param.name; });

struct BadCall {
  const char* name;
  std::string arguments;
  std::string message;

  friend void PrintTo(const BadCall& bad, std::ostream* out) { *out << bad.name; }
};

class BadCallTest : public ToolTest, public testing::WithParamInterface<BadCall> {
 protected:
  void SetUp() override {
    ASSERT_EQ(edict("generate synthetic --out data.csv --series 30").code, 0);
    write("unknown.toml", "[model]\nhiden = 5\n");
    write("outside.toml", "hidden = 5\n");
    write("wrong.toml", "[model]\nhidden = \"many\"\n");
    write("broken.toml", "[model\n");
    write("text.bin", "not a model at all");
    write("other.csv", "id,time,y\na,0,1\nb,0,2\nc,0,3\nd,1,2\n");
    ASSERT_EQ(edict("generate synthetic --out seed5.csv --series 30 --seed 5").code, 0);
    ASSERT_EQ(edict("train data.csv --out m" + kTiny).code, 0);
    before_ = files();
  }
  std::size_t before_ = 0;
};

TEST_P(BadCallTest, OneLineExitCodeTwoNothingLeft) {
  const Outcome outcome = edict(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find(GetParam().message), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(files(), before_);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCallTest,
    testing::Values(
        BadCall{"no_command", "", "edict"}, BadCall{"unknown_command", "fly", "fly"},
        BadCall{"missing_file", "train nowhere.csv --out n", "nowhere.csv"},
        BadCall{"folder_as_data", "info .", "."},
        BadCall{"no_such_folder", "train data.csv --out no/n", "no/n"},
        BadCall{"unknown_key", "train data.csv --out n --set model.hiden=5", "'model.hidden'"},
        BadCall{"unknown_key_in_file", "train data.csv --out n --config unknown.toml",
                "unknown.toml:2: unknown key 'model.hiden'; did you mean 'model.hidden'?"},
        BadCall{"key_outside_table", "train data.csv --out n --config outside.toml",
                "outside.toml:1"},
        BadCall{"wrong_type", "train data.csv --out n --config wrong.toml", "wrong.toml:2"},
        BadCall{"broken_toml", "train data.csv --out n --config broken.toml", "broken.toml"},
        BadCall{"out_of_range", "train data.csv --out n --set train.batch=0", "train.batch"},
        BadCall{"not_an_assignment", "train data.csv --out n --set model.hidden",
                "table.key=value"},
        BadCall{"no_test_split",
                "train data.csv --out n --set data.train=0.9 --set data.validation=0.2",
                "no test split"},
        BadCall{"t_cut_too_early", "train data.csv --out n --set data.t_cut=-5", "data.t_cut"},
        BadCall{"not_a_model", "evaluate text.bin data.csv", "text.bin"},
        BadCall{"data_as_model", "evaluate data.csv data.csv",
                "data.csv: this is a CSV file and no model; the model comes first"},
        BadCall{"model_as_data", "evaluate m m", "this looks like a model; the model comes first"},
        BadCall{"workbook_to_write", "predict m data.csv --at 1 --out p.xlsx",
                "CSV and JSON are written and no .xlsx"},
        BadCall{"other_features", "evaluate m other.csv", "'y'"},
        BadCall{"bad_grid", "predict m data.csv --at 0:0:3 --out p.csv", "--at"},
        BadCall{"bad_time", "predict m data.csv --at 0,x --out p.csv", "'x'"},
        BadCall{"negative_eta", "evaluate m data.csv --guard edgr --eta=-1",
                "eta = -1: give the number of deviations, at least 0"},
        BadCall{"eta_that_is_no_number", "predict m data.csv --at 1 --out p.csv --eta nan",
                "eta = nan: give the number of deviations, at least 0"},
        BadCall{"unknown_series", "explore m data.csv --out p.html --series nobody", "nobody"},
        BadCall{"resume_other_settings",
                "train data.csv --out m --resume" + kTiny + " --set model.hidden=7",
                "model.hidden"},
        BadCall{"resume_other_data", "train seed5.csv --out m --resume" + kTiny, "other data"}),
    [](const auto& bad) { return bad.param.name; });

TEST_F(ToolTest, AnythingElseInUtf8IsFine) {
  std::string csv = "id,time,体温,label\n";
  for (int i = 0; i < 20; ++i)
    for (int e = 0; e < 3; ++e)
      csv += "Müller " + std::to_string(i) + "," + std::to_string(e) + ",1." + std::to_string(i) +
             (i % 2 ? ",männlich\n" : ",🙂\n");
  write("data.csv", csv);
  const Outcome outcome = edict("train data.csv --out m" + kTiny);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(edict("info data.csv").out.find("männlich"), std::string::npos);
}

// The name of a file need not be text at all.
TEST_F(ToolTest, AFileNameMayBeAnyBytes) {
  ASSERT_EQ(edict("generate synthetic --out M\xfcller.csv --series 30").code, 0);
  ASSERT_EQ(edict("train M\xfcller.csv --out m" + kTiny).code, 0);
  EXPECT_EQ(edict("evaluate m M\xfcller.csv --json e.json").code, 0);
}

// A pipe gives its bytes once.
TEST_F(ToolTest, InfoReadsAPipeOnce) {
  ASSERT_EQ(edict("generate synthetic --out d.csv --series 30").code, 0);
  ASSERT_EQ(edict("train d.csv --out m" + kTiny).code, 0);
  for (const std::string file : {"d.csv", "m"}) {
    const std::string whole = edict("info " + file).out;
    const std::string after = whole.substr(whole.find('\n'));  // the first line is the name
    for (const std::string way : {"info -", "info /dev/stdin"}) {
      const std::string line =
          "cd '" + path().string() + "' && cat " + file + " | '" EDICT_TOOL "' " + way + " >.out";
      EXPECT_EQ(std::system(line.c_str()), 0) << line;
      EXPECT_EQ(read(".out").substr(read(".out").find('\n')), after) << line;
    }
    EXPECT_EQ(edict("info - <" + file).out, "standard input" + after);
  }
  write("bad.csv", "id,time,x\na,0,1\na,1,b\n");
  EXPECT_EQ(edict("info - <bad.csv").err.substr(0, 24), "edict: standard input:3:");
}

// Every byte and every length of a model file is tried in tests/model; here, that the program ends
// in the same way.
TEST_F(ToolTest, DamagedModelsAreRefusedInOneLine) {
  ASSERT_EQ(edict("generate synthetic --out data.csv --series 30").code, 0);
  ASSERT_EQ(edict("train data.csv --out m" + kTiny).code, 0);
  const std::string whole = read("m");
  const auto expect_refused = [&](const std::string& bytes) {
    write("damaged", bytes);
    for (const char* command : {"evaluate damaged data.csv", "classify damaged data.csv --out c"}) {
      const Outcome outcome = edict(command);
      EXPECT_EQ(outcome.code, 2) << command;
      EXPECT_NE(outcome.err.find("damaged: "), std::string::npos) << outcome.err;
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
  };
  for (std::size_t size :
       {std::size_t{0}, std::size_t{4}, std::size_t{200}, whole.size() / 2, whole.size() - 1})
    expect_refused(whole.substr(0, size));
  // The first shape with 2^62 in it, and a header that is as much longer.
  const std::string shape = "\"shape\":[", huge = "4611686018427387904";
  std::string damaged = whole;
  const std::size_t at = damaged.find(shape) + shape.size();
  damaged.replace(at, damaged.find(']', at) - at, huge);
  std::uint64_t header = 0;
  std::memcpy(&header, whole.data(), sizeof header);
  header += damaged.size() - whole.size();
  std::memcpy(damaged.data(), &header, sizeof header);
  expect_refused(damaged);
  // A parameter that is no number: the last four bytes of the file.
  expect_refused(whole.substr(0, whole.size() - 4) + "\xff\xff\xff\x7f");
}

// Finite parameters may still give a scale that float cannot hold.
TEST_F(ToolTest, ADistributionThatOverflowsIsAnErrorAndNoFile) {
  ASSERT_EQ(edict("generate synthetic --out data.csv --series 30").code, 0);
  ASSERT_EQ(edict("train data.csv --out m" + kTiny).code, 0);
  Model model = load_model(*this / "m");
  for (const Tensor& tensor : model.network->layout().tensors())
    if (tensor.name == "head.psi.1.bias") model.first().params[tensor.offset + 1] = 500;
  save_model(model, *this / "wide");
  const Outcome outcome = edict("predict wide data.csv --at 2 --out p.csv");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.err.starts_with("edict: series s00000: the distribution of 'x2' at time "))
      << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_FALSE(exists("p.csv"));
}

}  // namespace
}  // namespace edict

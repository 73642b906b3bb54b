// A folder of a test's own that goes away with the object, and files read and written whole.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace edict {

// `remedy`: what to do where it is missing.
inline std::string content(const std::filesystem::path& path, const std::string& remedy = "") {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path << " is missing" << (remedy.empty() ? "" : "; ") << remedy;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "edict-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  bool exists(const std::string& name) const { return std::filesystem::exists(path_ / name); }
  std::string read(const std::string& name) const { return content(path_ / name); }
  // Makes the folders on the way to it.
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace edict

#include <fmt/core.h>

#include <algorithm>

#include "research/import/mimic/pandas_frame.h"

namespace edict {
namespace {

class FixedFrame : public PandasFrame {
 public:
  FixedFrame(const Hdf5File& file, const std::string& key) : file_(file), key_(key) {
    if (!file.has(key)) file.fail(key, "is not there; the file is not in pandas' layout");
    const auto blocks = file.integer_attribute(key, "nblocks");
    if (!blocks || *blocks < 0 || *blocks > 10000)
      file.fail(key, "is no data frame as pandas writes it");
    rows_ = row_count();
    for (std::int64_t k = 0; k < *blocks; ++k) add_block(fmt::format("{}/block{}", key, k));
  }

  std::vector<std::int64_t> integers(const std::string& name) const override {
    const std::int64_t levels = level_count("axis1");
    for (std::int64_t i = 0; i < levels; ++i) {
      const std::string level = fmt::format("{}/axis1_level{}", key_, i);
      if (file_.text_attribute(level, "name") != name) continue;
      const auto values = file_.integers(level);
      auto result = file_.integers(fmt::format("{}/axis1_label{}", key_, i));
      for (std::int64_t& code : result) {
        if (code < 0 || code >= static_cast<std::int64_t>(values.size()))
          file_.fail(level, "lacks an entry that a row asks for; write the file again");
        code = values[static_cast<std::size_t>(code)];
      }
      return result;
    }
    const auto column = find(name);
    if (!column) file_.fail(key_, fmt::format("has no column or index level '{}'", name));
    std::vector<std::int64_t> result;
    for (double value : numbers(*column)) result.push_back(static_cast<std::int64_t>(value));
    return result;
  }

  std::optional<std::vector<std::string>> texts(const std::string&) const override { return {}; }

  void read(std::size_t first, std::size_t count, double* out) const override {
    std::vector<double> part;
    std::size_t offset = 0;
    for (const Block& block : blocks_) {
      part.resize(count * block.items);
      file_.rows(block.values, first, count, part.data());
      for (std::size_t i = 0; i < count; ++i)
        std::copy_n(&part[i * block.items], block.items, out + i * columns_.size() + offset);
      offset += block.items;
    }
  }

 private:
  struct Block {
    std::string values;  // path
    std::size_t items;
  };

  std::int64_t level_count(const std::string& axis) const {
    return file_.integer_attribute(key_, axis + "_nlevels").value_or(0);
  }

  std::size_t row_count() const {
    const std::string path = key_ + (level_count("axis1") > 0 ? "/axis1_label0" : "/axis1");
    const auto extents = file_.shape(path);
    if (extents.size() != 1) file_.fail(path, "is no list");
    return extents[0];
  }

  // The names of a block's columns, each with its levels.
  std::vector<std::vector<std::string>> item_names(const std::string& block) const {
    std::vector<std::vector<std::string>> names;
    const std::string items = block.substr(key_.size() + 1) + "_items";
    const std::int64_t levels = level_count(items);
    if (levels == 0) {
      for (auto& name : file_.strings(block + "_items")) names.push_back({std::move(name)});
      return names;
    }
    for (std::int64_t i = 0; i < levels; ++i) {
      const auto values = file_.strings(fmt::format("{}_items_level{}", block, i));
      const auto codes = file_.integers(fmt::format("{}_items_label{}", block, i));
      names.resize(codes.size());
      for (std::size_t j = 0; j < codes.size(); ++j) {
        const bool known = codes[j] >= 0 && codes[j] < static_cast<std::int64_t>(values.size());
        names[j].push_back(known ? values[static_cast<std::size_t>(codes[j])] : "");
      }
    }
    return names;
  }

  void add_block(const std::string& block) {
    const std::string values = block + "_values";
    if (!file_.is_number(values)) return;
    const auto names = item_names(block);
    const auto extents = file_.shape(values);
    if (extents.size() != 2 || extents[0] != rows_ || extents[1] != names.size())
      file_.fail(values, "does not fit the names and rows of its frame; write the file again");
    for (const auto& levels : names) columns_.push_back(pandas_column(levels));
    blocks_.push_back({values, names.size()});
  }

  const Hdf5File& file_;
  std::string key_;
  std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<PandasFrame> open_pandas_fixed(const Hdf5File& file, const std::string& key) {
  return std::make_unique<FixedFrame>(file, key);
}

}  // namespace edict

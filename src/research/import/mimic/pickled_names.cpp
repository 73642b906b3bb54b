#include "research/import/mimic/pickled_names.h"

#include <fmt/core.h>

#include <map>

#include "base/error.h"

namespace edict {
namespace {

struct Item {
  enum Kind { text, sequence, mark } kind = text;
  std::string name;
  std::vector<std::string> names;               // of a tuple or list of texts
  std::vector<std::vector<std::string>> lists;  // of a list, one an entry
};

// The machine behind pickle's opcodes, of which protocol 0 needs a dozen here.
class Reader {
 public:
  Reader(std::string_view pickle, std::string_view where) : rest_(pickle), where_(where) {}

  std::vector<std::vector<std::string>> run() {
    for (;;) {
      switch (take()) {
        case '(':
          stack_.push_back({Item::mark, {}, {}, {}});
          break;
        case 'V':
          stack_.push_back({Item::text, unescaped(line()), {}, {}});
          break;
        case 'S':
          stack_.push_back({Item::text, unquoted(line()), {}, {}});
          break;
        case 'I':
        case 'L':
          stack_.push_back({Item::text, digits(line()), {}, {}});
          break;
        case 'N':
          stack_.push_back({Item::text, "", {}, {}});
          break;
        case 'p':
          memo_[line()] = top();
          break;
        case 'g':
          recall(line());
          break;
        case 'l':
        case 't':
          gather();
          break;
        case 'a':
          append();
          break;
        case '.':
          if (stack_.size() != 1 || top().kind != Item::sequence) fail();
          return top().lists;
        default:
          fail();
      }
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(
        fmt::format("{}: the column names are pickled in a way that is not read; write the "
                    "table with pandas and plain text names",
                    where_));
  }
  char take() {
    if (rest_.empty()) fail();
    const char code = rest_.front();
    rest_.remove_prefix(1);
    return code;
  }
  std::string line() {
    const auto end = rest_.find('\n');
    if (end == rest_.npos) fail();
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  Item& top() {
    if (stack_.empty()) fail();
    return stack_.back();
  }
  void recall(const std::string& key) {
    const auto at = memo_.find(key);
    if (at == memo_.end()) fail();
    stack_.push_back(at->second);
  }
  static void add(Item& to, const Item& item) {
    if (item.kind == Item::text) to.names.push_back(item.name);
    to.lists.push_back(item.kind == Item::text ? std::vector{item.name} : item.names);
  }
  void gather() {
    std::size_t from = stack_.size();
    while (from > 0 && stack_[from - 1].kind != Item::mark) --from;
    if (from == 0) fail();
    Item sequence{Item::sequence, {}, {}, {}};
    for (std::size_t i = from; i < stack_.size(); ++i) add(sequence, stack_[i]);
    stack_.resize(from - 1);
    stack_.push_back(std::move(sequence));
  }
  void append() {
    const Item item = top();
    stack_.pop_back();
    if (item.kind == Item::mark || top().kind != Item::sequence) fail();
    add(top(), item);
  }
  std::string digits(std::string text) const {
    if (text.ends_with('L')) text.pop_back();
    return text;
  }
  std::string unquoted(const std::string& text) const {
    const bool closed = text.size() >= 2 && text.front() == text.back();
    if (!closed || text.find('\\') != text.npos) fail();
    return text.substr(1, text.size() - 2);
  }
  // \uXXXX of Python's raw-unicode-escape, and the bytes above 127, which are Latin-1, to UTF-8.
  std::string unescaped(const std::string& text) const {
    std::string result;
    const auto put = [&](unsigned code) {
      if (code < 0x80) {
        result += static_cast<char>(code);
      } else if (code < 0x800) {
        result += static_cast<char>(0xc0 | (code >> 6));
        result += static_cast<char>(0x80 | (code & 0x3f));
      } else {
        result += static_cast<char>(0xe0 | (code >> 12));
        result += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
        result += static_cast<char>(0x80 | (code & 0x3f));
      }
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "\\u") != 0) {
        put(static_cast<unsigned char>(text[i]));
        continue;
      }
      unsigned code = 0;
      for (std::size_t k = i + 2; k < i + 6; ++k) {
        const auto digit = k < text.size() ? std::string_view("0123456789abcdef").find(text[k])
                                           : std::string_view::npos;
        if (digit == std::string_view::npos) fail();
        code = 16 * code + static_cast<unsigned>(digit);
      }
      put(code);
      i += 5;
    }
    return result;
  }

  std::string_view rest_, where_;
  std::vector<Item> stack_;
  std::map<std::string, Item> memo_;
};

}  // namespace

std::vector<std::vector<std::string>> read_pickled_names(std::string_view pickle,
                                                         std::string_view where) {
  return Reader(pickle, where).run();
}

}  // namespace edict

// What a loss of power may leave, told from the journal of a run (journal.c). The worst that a file
// system may do is assumed: bytes that were not synced are lost, arrive in part, or are zeros; of
// names that were made, changed or removed since their folder was synced any may have been kept and
// any lost, whatever their order; syncing a file keeps its bytes and not its name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace edict {

struct JournalEntry {
  char kind;
  int descriptor;
  std::size_t offset;
  std::string bytes;
  std::size_t end;  // of the entry in the journal
};

inline std::vector<JournalEntry> read_journal(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<JournalEntry> entries;
  JournalEntry entry;
  for (std::size_t size = 0; in >> entry.kind >> entry.descriptor >> entry.offset >> size;) {
    in.get();
    entry.bytes.resize(size);
    in.read(entry.bytes.data(), static_cast<std::streamsize>(size));
    if (!in) throw std::runtime_error(path + ": ends within an entry");
    entry.end = static_cast<std::size_t>(in.tellg());
    entries.push_back(entry);
  }
  return entries;
}

// A disk that is told of entries one after the other.
class FallibleDisk {
 public:
  using Files = std::map<std::string, std::string>;  // bytes by path

  explicit FallibleDisk(const Files& files) {
    for (const auto& [name, bytes] : files) {
      names_[name] = kept_names_[name] = files_.size();
      files_.push_back({bytes, bytes, {}});
      for (std::string folder = folder_of(name); !folder.empty(); folder = folder_of(folder))
        kept_folders_.insert(folder);
    }
  }

  void follow(const JournalEntry& entry) {
    switch (entry.kind) {
      case 'o':
      case 't':
        open(entry);
        break;
      case 'p':
        opened_[entry.descriptor] = {};
        break;
      case 'w':
        change(entry, {entry.offset, entry.bytes, false});
        break;
      case 'f':
        change(entry, {entry.offset, "", true});
        break;
      case 's':
        sync(entry.descriptor);
        break;
      case 'c':
        opened_.erase(entry.descriptor);
        break;
      case 'r':
        rename(entry.bytes);
        break;
      case 'u':
        forget(entry.bytes);
        break;
      case 'd':
        folders_.insert(entry.bytes);
        pending_.push_back({folder_of(entry.bytes), {}, entry.bytes, kFolder});
        break;
      default:
        throw std::runtime_error("a journal has an entry of unknown kind");
    }
  }

  // What may be there if the power goes now.
  std::vector<Files> possible() const {
    std::vector<Files> result;
    for (const std::vector<bool>& chosen : choices(pending_.size()))
      for (const Loss loss : {Loss::all, Loss::none, Loss::every_second, Loss::zeros}) {
        Files files = after(chosen, loss);
        if (std::find(result.begin(), result.end(), files) == result.end())
          result.push_back(std::move(files));
      }
    return result;
  }
  // What the program itself sees.
  Files seen() const {
    Files files;
    for (const auto& [name, file] : names_) files[name] = files_[file].now;
    return files;
  }

 private:
  enum class Loss { all, none, every_second, zeros };  // of what was not synced
  static constexpr std::size_t kNone = std::size_t(-1), kFolder = std::size_t(-2);

  struct Change {
    std::size_t offset;
    std::string bytes;
    bool cut;  // to offset bytes

    void apply(std::string& content) const {
      if (cut) return content.resize(offset);
      if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
      content.replace(offset, bytes.size(), bytes);
    }
  };
  struct File {
    std::string now, kept;
    std::vector<Change> unsynced;
  };
  // In `folder` the name `from` goes and the name `to` leads to `file`; either may be empty.
  struct NameChange {
    std::string folder, from, to;
    std::size_t file;
  };
  struct Opened {
    std::size_t file = kNone;
    std::string folder = {};
    bool is_folder = false;
  };

  static std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }

  void open(const JournalEntry& entry) {
    Opened& opened = opened_[entry.descriptor];
    std::string name = entry.bytes;
    while (name.ends_with('/')) name.pop_back();
    if (name == "." || folders_.count(name) || kept_folders_.count(name)) {
      opened = {kNone, name == "." ? "" : name, true};
      return;
    }
    const auto found = names_.find(name);
    if (found == names_.end()) {
      names_[name] = files_.size();
      pending_.push_back({folder_of(name), "", name, files_.size()});
      files_.emplace_back();
    } else if (entry.kind == 't') {
      change_file(found->second, {0, "", true});
    }
    opened = {names_[name], "", false};
  }
  void change(const JournalEntry& entry, const Change& change) {
    const auto opened = opened_.find(entry.descriptor);
    if (opened != opened_.end() && opened->second.file != kNone)
      change_file(opened->second.file, change);
  }
  void change_file(std::size_t file, const Change& change) {
    change.apply(files_[file].now);
    files_[file].unsynced.push_back(change);
  }
  void sync(int descriptor) {
    const auto opened = opened_.find(descriptor);
    if (opened == opened_.end()) return;
    if (opened->second.file != kNone) {
      File& file = files_[opened->second.file];
      file.kept = file.now;
      file.unsynced.clear();
    } else if (opened->second.is_folder) {
      std::vector<NameChange> left;
      for (const NameChange& change : pending_)
        if (change.folder == opened->second.folder)
          apply(change, kept_names_, kept_folders_);
        else
          left.push_back(change);
      pending_ = std::move(left);
    }
  }
  void rename(const std::string& both) {
    const std::string from = both.substr(0, both.find('\0')), to = both.substr(both.find('\0') + 1);
    if (folder_of(from) != folder_of(to)) throw std::runtime_error("renamed across folders");
    const std::size_t file = names_.at(from);
    names_.erase(from);
    names_[to] = file;
    pending_.push_back({folder_of(to), from, to, file});
  }
  void forget(const std::string& name) {
    names_.erase(name);
    pending_.push_back({folder_of(name), name, "", kNone});
  }

  static void apply(const NameChange& change, std::map<std::string, std::size_t>& names,
                    std::set<std::string>& folders) {
    if (change.file == kFolder) {
      folders.insert(change.to);
      return;
    }
    if (!change.from.empty()) names.erase(change.from);
    if (!change.to.empty()) names[change.to] = change.file;
  }

  // Which of the pending changes were kept: every choice of few; of many none, all, all up to one,
  // all but one, and each alone.
  static std::vector<std::vector<bool>> choices(std::size_t count) {
    std::vector<std::vector<bool>> result;
    if (count <= 4) {
      for (std::size_t bits = 0; bits < (std::size_t{1} << count); ++bits) {
        std::vector<bool> chosen(count);
        for (std::size_t i = 0; i < count; ++i) chosen[i] = (bits >> i & 1) != 0;
        result.push_back(chosen);
      }
      return result;
    }
    for (std::size_t i = 0; i <= count; ++i) {
      std::vector<bool> up_to(count), but(count, true), alone(count);
      for (std::size_t k = 0; k < i; ++k) up_to[k] = true;
      if (i < count) but[i] = false, alone[i] = true;
      result.insert(result.end(), {up_to, but, alone});
    }
    return result;
  }

  Files after(const std::vector<bool>& chosen, Loss loss) const {
    std::map<std::string, std::size_t> names = kept_names_;
    std::set<std::string> folders = kept_folders_;
    for (std::size_t i = 0; i < pending_.size(); ++i)
      if (chosen[i]) apply(pending_[i], names, folders);
    Files files;
    for (const auto& [name, file] : names) {
      bool reached = true;
      for (std::string folder = folder_of(name); !folder.empty(); folder = folder_of(folder))
        reached &= folders.count(folder) > 0;
      if (reached) files[name] = content(files_[file], loss);
    }
    return files;
  }
  static std::string content(const File& file, Loss loss) {
    if (loss == Loss::none) return file.now;
    std::string kept = file.kept;
    if (loss == Loss::every_second)
      for (std::size_t i = 1; i < file.unsynced.size(); i += 2) file.unsynced[i].apply(kept);
    if (loss == Loss::zeros && kept.size() < file.now.size()) kept.resize(file.now.size());
    return kept;
  }

  std::vector<File> files_;
  std::map<std::string, std::size_t> names_, kept_names_;  // to files
  std::set<std::string> folders_, kept_folders_;
  std::vector<NameChange> pending_;
  std::map<int, Opened> opened_;
};

}  // namespace edict

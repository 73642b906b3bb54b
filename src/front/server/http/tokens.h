// Who may come in: a file of names, scopes and SHA-256 of tokens. The tokens themselves are shown
// once, when they are made.
//
//   # name  scopes      sha256 of the token
//   anna    read,write  9f86d081…
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edict::server {

enum class Scope : std::uint8_t { read = 1, write = 2, admin = 4 };
std::string_view name_of(Scope scope);

class Tokens {
 public:
  // Throws Error with the line.
  static Tokens read(const std::filesystem::path& path);
  static Tokens parse(std::string_view text, const std::string& name);

  struct Holder {
    std::string name;
    std::uint8_t scopes = 0;
    bool may(Scope scope) const { return (scopes & static_cast<std::uint8_t>(scope)) != 0; }
  };
  // Compares with every one of them, in the same time whichever it is.
  const Holder* find(std::string_view token) const;
  std::size_t size() const { return holders_.size(); }

 private:
  std::vector<Holder> holders_;
  std::vector<std::array<unsigned char, 32>> hashes_;
};

struct NewToken {
  std::string token;  // 43 letters, 256 bits
  std::string line;   // for the file
};
// `scopes`: "read,write". Throws Error.
NewToken make_token(const std::string& name, const std::string& scopes);

}  // namespace edict::server

#include "front/server/http/tokens.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <sstream>

#include "base/error.h"
#include "base/files/read_file.h"

namespace edict::server {
namespace {

using Digest = std::array<unsigned char, 32>;

Digest digest_of(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

std::optional<std::uint8_t> scopes_from(const std::string& text) {
  std::uint8_t scopes = 0;
  std::istringstream list(text);
  for (std::string scope; std::getline(list, scope, ',');) {
    if (scope == "read")
      scopes |= static_cast<std::uint8_t>(Scope::read);
    else if (scope == "write")
      scopes |= static_cast<std::uint8_t>(Scope::write);
    else if (scope == "admin")
      scopes |= 7;
    else
      return {};
  }
  if (scopes == 0) return {};
  return scopes;
}

std::optional<Digest> digest_from_hex(const std::string& hex) {
  Digest digest;
  if (hex.size() != 2 * digest.size()) return {};
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const std::size_t digit = std::string_view("0123456789abcdef").find(hex[i]);
    if (digit == std::string_view::npos) return {};
    digest[i / 2] = static_cast<unsigned char>(i % 2 == 0 ? digit << 4 : digest[i / 2] | digit);
  }
  return digest;
}

}  // namespace

std::string_view name_of(Scope scope) {
  return scope == Scope::read ? "read" : scope == Scope::write ? "write" : "admin";
}

Tokens Tokens::read(const std::filesystem::path& path) {
  return parse(read_file(path), path.string());
}

Tokens Tokens::parse(std::string_view text, const std::string& name) {
  Tokens tokens;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string who, scopes, hash, more;
    if (!(words >> who) || who.starts_with('#')) continue;
    words >> scopes >> hash;
    const auto read = scopes_from(scopes);
    const auto digest = digest_from_hex(hash);
    if (!read || !digest || words >> more)
      throw Error(
          fmt::format("{}:{}: write NAME read,write,admin SHA256, as `edict-server token` "
                      "prints it",
                      name, number));
    tokens.holders_.push_back({who, *read});
    tokens.hashes_.push_back(*digest);
  }
  if (tokens.holders_.empty())
    throw Error(fmt::format("{}: holds no token; make one with `edict-server token NAME`", name));
  return tokens;
}

const Tokens::Holder* Tokens::find(std::string_view token) const {
  const Digest digest = digest_of(token);
  const Holder* found = nullptr;
  for (std::size_t i = 0; i < hashes_.size(); ++i)
    if (CRYPTO_memcmp(digest.data(), hashes_[i].data(), digest.size()) == 0) found = &holders_[i];
  return found;
}

NewToken make_token(const std::string& name, const std::string& scopes) {
  if (name.empty() || name.find_first_of(" \t\n#") != std::string::npos)
    throw Error("a token's name is one word");
  if (!scopes_from(scopes)) throw Error("scopes are read, write and admin, with commas between");
  std::array<unsigned char, 32> random;
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1)
    throw Error("the system gave no random numbers");
  NewToken made;
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  unsigned bits = 0, held = 0;
  for (const unsigned char byte : random) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) made.token += kLetters[bits >> (held - 6) & 63];
  }
  made.token += kLetters[bits << (6 - held) & 63];
  made.line = name + " " + scopes + " ";
  for (const unsigned char byte : digest_of(made.token)) made.line += fmt::format("{:02x}", byte);
  return made;
}

}  // namespace edict::server

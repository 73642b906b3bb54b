// What a command writes: never over what it reads, and never two results into one file.
#pragma once

#include <CLI/App.hpp>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace edict::cli {

// An option that names a file to write; "-" is standard output.
CLI::Option* add_output(CLI::App& command, const std::string& option, std::string& path,
                        const std::string& help);

// Refuses early, before hours of work: an output that is an input or another output, or that could
// not be written. Names that are empty were not given.
void check_files(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

bool is_standard_output(const std::string& path);

// An output as a message calls it: "standard output" instead of /dev/stdout.
std::string shown(const std::string& output);

// Where what is meant for a reader goes: not between the bytes of an output.
std::FILE* text_stream(const std::vector<std::string>& outputs);

// --json: the results of a command as JSON.
CLI::Option* add_json(CLI::App& command, std::string& path);
// Nothing where no file was asked for.
void write_json(const std::string& path, const nlohmann::json& json);

// A command's text on standard output may have met a full disk; nobody knows before it is flushed.
// Throws Error.
void finish_standard_output();

// A program started without one of the three standard streams would give its number to the first
// file it opens, and print into that.
void open_standard_streams();

}  // namespace edict::cli

#include "cli/program/answer_output.hpp"

#include <algorithm>
#include <exception>

#include "cli/program/output.hpp"
#include "models/base/error.hpp"
#include "models/base/wrapped.hpp"
#include "report/answer/command_answers.hpp"
#include "report/console/console.hpp"

namespace windtunnel {
namespace {

struct AnswerFormat {
  const char* option;
  void (*add)(const CommandLine& app, std::string& file);
  std::string (*print)(const Answer& answer);
};

constexpr AnswerFormat kFormats[] = {{"--page", add_page_option, answer_page}};

}  // namespace

bool AnswerOutput::has_files() const {
  return std::ranges::any_of(files, [](const auto& file) { return !file.second.empty(); });
}

void add_answer_files(const CommandLine& app, AnswerOutput& output, const std::string& left_out) {
  for (const AnswerFormat& format : kFormats) {
    if (format.option != left_out) format.add(app, output.files[format.option]);
  }
}

void add_answer_output(const CommandLine& app, AnswerOutput& output, const std::string& left_out) {
  add_answer_files(app, output, left_out);
  app.add_json(output.json);
}

void check_folders(const AnswerOutput& output) {
  for (const auto& [option, file] : output.files) check_folder_of(file);
}

void hand_out(const Answer& answer, const AnswerOutput& output, const std::string& after) {
  std::exception_ptr not_written;
  const auto write = [&](const std::string& file, const std::string& text) {
    try {
      write_file(file, text);
    } catch (const Error&) {
      if (!not_written) not_written = std::current_exception();
    }
  };
  // Files come before the text, because the reader of stdout may leave early (`| head`).
  for (const auto& [file, text] : output.beside) write(file, text);
  for (const AnswerFormat& format : kFormats) {
    const auto file = output.files.find(format.option);
    if (file != output.files.end() && !file->second.empty()) {
      write(file->second, format.print(answer));
    }
  }
  if (output.json && answer.document) print_document(answer.kind, answer.document());
  ConsoleStyle style = human_style(output.json);
  if (output.width > 0) style.width = output.width;
  print_drawing(wrapped_lines(answer_text(answer, style), style.width) + answer.drawing +
                    wrapped_lines(after, style.width),
                output.json);
  if (not_written) std::rethrow_exception(not_written);
}

}  // namespace windtunnel

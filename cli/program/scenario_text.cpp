#include "cli/program/scenario_text.hpp"

#include <filesystem>
#include <string_view>

#include "report/page/page.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
Case load_scenario(const std::string& path, const Overrides& set) {
  constexpr std::string_view kRecord = R"({"format":"windtunnel-)";
  const std::string text = read_text_file(path);
  if (!text.starts_with(kRecord)) {
    Case the_case = parse_case(text, path, set);
    the_case.file = std::filesystem::absolute(path).lexically_normal();
    return the_case;
  }
  RecordSource source = source_of_record(text, path);
  source.set.insert(source.set.end(), set.begin(), set.end());
  return parse_case(source.text, source.file, source.set);
}

}  // namespace windtunnel

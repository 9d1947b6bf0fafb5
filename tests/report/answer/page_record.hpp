// Reads the record that an answer's page holds for its script.
#pragma once

#include <string>

#include "report/json/json.hpp"

namespace windtunnel {

// The record has the keys "format" and "charts".
inline Json page_record(const std::string& html) {
  const std::string mark = "id=\"record\">";
  const std::size_t from = html.find(mark) + mark.size();
  return Json::parse(html.substr(from, html.find("</script>", from) - from));
}

}  // namespace windtunnel

#include "validate/documents/form_document.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

TextTable lines_table(const std::vector<std::string>& titles, Lines lines) {
  TextTable table;
  for (const std::string& title : titles) table.columns.push_back({title});
  table.rows = std::move(lines);
  return table;
}

// These shipped forms use all features of forms: parts, rows, conditions on presence and absence,
// nested documents, and other forms.
TEST(Document, AFormPutsPartsInOrder) {
  Document document{"rows",
                    {{"families", lines_table({"family"}, {{"DGX|1"}})},
                     {"remarks", lines_table({"family", "metric", "note", "rule", "mape"},
                                             {{"DGX|1", "s", "a <note>", "", ""},
                                              {"DGX|1", "s", "", "a ring", "0.1"}})},
                     {"judged", "2"},
                     {"skipped", "1"},
                     {"reasons", lines_table({"reason", "rows", "first"}, {{"why", "1", "r:2"}})}}};
  EXPECT_EQ(console_text(document),
            "family\nDGX|1\nDGX|1: a <note>\nDGX|1, s: the rule 'a ring' has a MAPE of 0.1\n"
            "2 rows predicted, 1 not\n  1: why, first r:2\n");
  EXPECT_EQ(markdown_page(document), "");  // the form has no page
  std::get<TextTable>(document["families"]).rows.clear();
  std::get<TextTable>(document["remarks"]).rows.clear();
  std::get<TextTable>(document["reasons"]).rows.clear();
  EXPECT_EQ(console_text(document), "2 rows predicted, 1 not\n");
}

TEST(Document, CellsOfAPageAreEscaped) {
  const Document document{
      "assumed",
      {{"rows_are", "a|b"}, {"assumed", lines_table({"family", "assumed"}, {{"a|b", "<i>"}})}}};
  const std::string page = markdown_page(document);
  EXPECT_NE(page.find("Assumed, in so many a|b:"), std::string::npos) << page;
  EXPECT_NE(page.find("- a\\|b: &lt;i>\n"), std::string::npos) << page;
}

// A nested document may use names of the outer one: its own parts come first.
TEST(Document, DocumentsStandInADocument) {
  const auto machine = [](const char* name) {
    return Document{{},
                    {{"machine", name},
                     {"nodes", "2"},
                     {"uplinks", "0"},
                     {"shared", ""},
                     {"series", lines_table({"series"}, {{"all-reduce"}})},
                     {"good", "1"},
                     {"judged", "1"},
                     {"uniform", "0"}}};
  };
  const Document document{"pairs",
                          {{"machine", "around"},
                           {"machines", std::vector{machine("one"), machine("two")}},
                           {"not_used", titled_table("row | reason")}}};
  const std::string text = console_text(document);
  EXPECT_EQ(text.find("around"), std::string::npos) << text;
  EXPECT_LT(text.find("\none: 2 nodes\n  one leaf"), text.find("\ntwo: 2 nodes\n")) << text;
  EXPECT_NE(text.find("are not slowed\nseries\nall-reduce\n  1 of 1 series"), std::string::npos)
      << text;
}

TEST(Document, APartThatIsMissingIsNoEmptyOne) {
  EXPECT_THROW(console_text(Document{"rows", {}}), InternalError);
  EXPECT_THROW(console_text(Document{"no such form", {}}), InternalError);
}

TEST(Document, ColumnsOfATableArePicked) {
  TextTable table = lines_table({"name", "seconds"}, {{"a long name", "1"}, {"between the rows"}});
  table.columns.push_back({"a ring", Align::right, "A"});
  table.rows[0].emplace_back("2");
  const TextTable found = picked(table, "time = seconds > | * | name ~5");
  EXPECT_EQ(found.rows, (Lines{{"1", "2", "a long name"}, {"between the rows"}}));
  EXPECT_EQ(table_text(found), "time  A  name\n   1  2  a l…e\nbetween the rows\n");
  EXPECT_EQ(picked(titled_table("name"), "name | *").columns.size(), 1U);
  EXPECT_THROW(picked(table, "seconds | hours"), InternalError);
}

// Every block is entered, so that all names in it must be found in the document.
TEST(Document, ALongFormFindsItsParts) {
  const TextTable families =
      lines_table({"family", "metric", "rows", "fitted", "mape", "median", "worst", "coverage"},
                  {{"ring", "step_s", "3", "1", "5%", "4%", "9%", "90%"}});
  const TextTable rows = lines_table({"row", "family", "what", "measured", "predicted", "error"},
                                     {{"r.csv:2", "ring", "8 GPUs", "1 s", "2 s", "+100%"}});
  const Document document{
      "compression",
      {{"families", families},
       {"notes", lines_table({"family", "metric", "note"}, {{"ring", "step_s", "a note"}})},
       {"pairs", "7"},
       {"right", "6"},
       {"own_pairs", "5"},
       {"own_right", "4"},
       {"wrong", lines_table({"pair"}, {{"ring before tree"}})},
       {"laws", lines_table({"law"}, {{"links at 80 %"}})},
       {"crossovers", lines_table({"bits"}, {{"4 bits"}})},
       {"worst", rows},
       {"reasons", lines_table({"reason", "rows", "first"}, {{"no bytes", "1", "r.csv:3"}})},
       {"command", "windtunnel validate"},
       {"fit_where", "gpus==1"},
       {"miss_above", "10%"},
       {"misses", rows},
       {"skipped", "1"},
       {"reason_counts", lines_table({"reason", "rows"}, {{"no bytes", "1"}})}}};
  const std::string text = console_text(document);
  const std::string page = markdown_page(document);
  for (const char* part : {"a note", "6 of 7 pairs", "ring before tree", "links at 80 %", "4 bits",
                           "r.csv:2", "no bytes"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  for (const char* part : {"`windtunnel validate`", "`gpus==1`", "Misses above 10%", "1 rows."}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_EQ((text + page).find("{{"), std::string::npos) << text << page;
}

// Each form closes the blocks that it opens, and the forms that it includes exist.
TEST(Document, FormsAreWhole) {
  for (const EmbeddedForm& form : embedded_forms()) {
    std::vector<std::string_view> open;
    for (std::size_t at = form.text.find("{{"); at != std::string_view::npos;
         at = form.text.find("{{", at + 2)) {
      const std::string_view tag = form.text.substr(at + 2, form.text.find("}}", at) - at - 2);
      const std::string_view name = tag.substr(1);
      if (tag.front() == '/') {
        ASSERT_FALSE(open.empty()) << form.name << " " << tag;
        EXPECT_EQ(open.back(), name) << form.name;
        open.pop_back();
      } else if (tag.front() == '>') {
        EXPECT_TRUE(std::ranges::any_of(embedded_forms(),
                                        [&](const auto& other) { return other.name == name; }))
            << form.name << " " << tag;
      } else if (std::string_view("#?^").find(tag.front()) != std::string_view::npos) {
        open.push_back(name);
      }
    }
    EXPECT_TRUE(open.empty()) << form.name;
  }
}

}  // namespace
}  // namespace windtunnel

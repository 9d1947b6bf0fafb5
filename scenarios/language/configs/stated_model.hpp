// How files of other programs state a transformer: scenarios/library/model_files.yaml, which
// explains its rows. One reader follows the rows for every kind of file; for arguments of
// Megatron-LM they are followed backwards, too.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// What a file says under its own names. Each function throws Error with the place of a value that
// is missing or of another kind.
class ModelFile {
 public:
  virtual ~ModelFile() = default;
  virtual bool has(const std::string& name) const = 0;
  virtual int whole(const std::string& name) const = 0;
  virtual double number(const std::string& name) const = 0;
  virtual bool flag(const std::string& name) const = 0;
  virtual std::string word(const std::string& name) const = 0;
  virtual Location where(const std::string& name) const = 0;
};

struct StatedRow {
  std::string key;                   // "moe.experts", or a quantity: ".encoder"
  const Field* field = nullptr;      // of the key; null: a quantity
  std::vector<std::string> of = {};  // the newest name first
  std::optional<std::string> is = {}, otherwise = {};
  std::vector<std::pair<std::string, std::string>> words = {};
  std::string refused = {}, times = {}, plus = {}, same_as = {}, only_if = {};
  double at_least = 0, none = 0;
};

// An entry of the file, with the rows of its bases. Each part of `left_out` has names, and the
// words that are said of it.
struct ModelForm {
  std::string name;
  std::vector<StatedRow> rows;
  std::vector<std::string> reads;
  std::vector<std::pair<std::vector<std::string>, std::string>> left_out;
  std::map<std::string, std::string> full_attention;  // ["words", "flags", "numbers"] a list
  std::string part;
  DocumentNode defaults = {};

  bool states(std::string_view key) const;
};

const DocumentNode& model_files();
// Throws Error with location: an unknown key, or a base that is no entry before.
std::vector<ModelForm> read_model_forms(const DocumentNode& entries);
std::vector<StatedRow> read_stated_rows(const DocumentNode& entry);

// The member of a model that the row sets, as a value. `row.field` must not be null.
Value value_of_row(const StatedRow& row, const TransformerSpec& model);
// Whether the model has another value of the key than a new one.
bool is_unusual(const std::string& key, const TransformerSpec& model);

// A model while it is read.
class ModelReader {
 public:
  ModelReader(const ModelFile& file, TransformerSpec& model) : file_(file), model_(model) {}

  void read(const std::vector<StatedRow>& rows);
  void set(const std::string& quantity, int value) { quantities_[quantity] = value; }
  // Nothing if no row has stated it.
  std::optional<int> find(std::string_view quantity) const;

 private:
  bool applies(const StatedRow& row) const;
  std::optional<double> known(const std::string& name) const;
  std::optional<double> otherwise(const StatedRow& row) const;
  int whole(const StatedRow& row, const std::string& name) const;
  bool flag(const StatedRow& row, const std::string& name) const;
  std::string word(const StatedRow& row, const std::string& name) const;

  const ModelFile& file_;
  TransformerSpec& model_;
  std::map<std::string, int, std::less<>> quantities_;
};

}  // namespace windtunnel

// Settings as names with values and places, from each form in which training programs are
// configured.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/language/configs/setting.hpp"
#include "scenarios/language/configs/shell_arithmetic.hpp"

namespace windtunnel {
namespace {

std::string told(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", setting.name, setting.value);
  }
  return text;
}

std::string place(const Location& where) {
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}
std::string of_script(const std::string& text) {
  return told(settings_of_script(text, "run.sh"));
}
std::string of_yaml(const std::string& text) {
  return told(settings_of_document(text, "run.yaml"));
}

TEST(ScriptSettings, ArgumentsAndFlags) {
  EXPECT_EQ(of_script("train --Micro-Batch-Size 4 --bf16 --lr=1e-4 -N 2 model.dim=8 +a.b='c d'"),
            "micro_batch_size=4; bf16=true; lr=1e-4; N=2; model.dim=8; a.b=c d");
  EXPECT_EQ(of_script("torchrun --nnodes 2 pretrain.py --on q_proj v_proj --min -1"),
            "nnodes=2; on=[q_proj, v_proj]; min=-1");
  EXPECT_EQ(of_script("train --a 1 > log 2>&1 | tee -a out.txt"), "a=1");
  EXPECT_EQ(of_script("mkdir -p out; echo --not-this; cd --nor-this"), "");
  EXPECT_EQ(of_script("python -m x.train base.yml steps=5 tp=8"),
            "m=x.train; yaml_file=base.yml; steps=5; tp=8");
}

TEST(ScriptSettings, LinesThatGoOnAndComments) {
  EXPECT_EQ(of_script("train \\\n  --a 1 \\\n  --b 2  # --c 3\n# --d 4\n"), "a=1; b=2");
  EXPECT_EQ(of_script("train \\\r\n  --a 1\r\n"), "a=1");
}

TEST(ScriptSettings, Variables) {
  EXPECT_EQ(of_script("TP=8\nexport PP='2'\nrun --tp $TP --pp \"${PP}\" --x ${NONE}"),
            "tp=8; pp=2; x=${NONE}");
  EXPECT_EQ(of_script("A=${1:-\"4\"}\nB=${B-5}\nC=\nD=${C:-6}\nrun --a $A --b $B --d $D"),
            "a=4; b=5; d=6");
  EXPECT_EQ(of_script("A=x.tar\nrun --a ${A%.tar} --b '$A' --c \"$A\""),
            "a=${A%.tar}; b=$A; c=x.tar");
  EXPECT_EQ(of_script("A=1\nA=2\nrun --a $A"), "a=2");
  EXPECT_EQ(of_script("A=1 B=2\nrun --a $A$B"), "a=12");
}

TEST(ScriptSettings, Arithmetic) {
  EXPECT_EQ(
      of_script("N=4\nG=8\nrun --world $(($N*G)) --acc $(( (64 / N - 6) + 2*3 )) --z $((1/0))"),
      "world=32; acc=16; z=$((1/0))");
}

TEST(ScriptSettings, ArraysAndTextsOfArguments) {
  EXPECT_EQ(of_script("A=(--a 1  # one\n  --b 2)\nA+=(--c)\nrun ${A[@]} --d 4"),
            "a=1; b=2; c=true; d=4");
  EXPECT_EQ(of_script("A=(\"--a x\" \"--b\")\nrun ${A[@]}"), "a=x; b=true");
  EXPECT_EQ(of_script("A=\" --a ${A} \"\nA=\" --b ${A}\"\nrun $A"), "b=true; a=${A}");
  EXPECT_EQ(of_script("A=\"\"\nA=\" --a ${A}\"\nrun $A"), "a=true");
  EXPECT_EQ(of_script("A=(--a 1)\nA=(\"${A[@]}\" --b 2)\nCMD=\"run ${A[@]}\"\n"), "a=1; b=2");
  EXPECT_EQ(of_script("L=\"torchrun --n 2\"\nsrun bash -c \"$L --r 3\" 2>&1"), "n=2; r=3");
}

TEST(ScriptSettings, BranchesThatTheScriptDecides) {
  EXPECT_EQ(of_script("K=fp8\nif [[ \"$K\" == fp8 ]]; then\n  A=1\nelse\n  A=2\nfi\nrun --a $A"),
            "a=1");
  EXPECT_EQ(
      of_script("K=bf16\nif [ $K = fp8 ]; then A=1; elif [ $K = bf16 ]\nthen A=2; else A=3; fi\n"
                "run --a $A"),
      "a=2");
  EXPECT_EQ(
      of_script("N=4\nif [ $N -gt 8 ]; then run --a 1; fi\nif [ $N -le 4 ]; then run --b 2; fi"),
      "b=2");
  EXPECT_EQ(of_script("Z=\nif [ -z \"$Z\" ]; then run --a 1; else run --b 2; fi"), "a=1");
  // If only a run can decide a condition, the settings of all branches count.
  EXPECT_EQ(of_script("if [ -f x ]; then run --a 1; else run --b 2; fi"), "a=1; b=2");
  EXPECT_EQ(of_script("if [ \"$1\" == \"\" ]; then A=3; fi\nrun --a $A"), "a=3");
  EXPECT_EQ(
      of_script("S=8B\ncase \"$S\" in\n  1B|2B)\n    A=1\n    ;;\n  \"8B\") A=8 ;;\n  *)\n    A=0\n"
                "    ;;\nesac\nrun --a $A"),
      "a=8");
  EXPECT_EQ(of_script("S=none\ncase $S in 1B) A=1;; *) A=0;; esac\nrun --a $A"), "a=0");
}

TEST(ScriptSettings, TextsOfFilesAreNoCommands) {
  EXPECT_EQ(of_script("cat <<EOT > ds.json\n{\"a b\": --x}\nrun --y 1\nEOT\nrun --a 1"), "a=1");
  EXPECT_EQ(of_script("cat <<EOT\nrun --a 1"), "a=1");  // the here-document does not end
}

TEST(ScriptSettings, DirectivesOfSlurm) {
  EXPECT_EQ(
      of_script("#!/bin/bash\n#SBATCH --nodes=4  # of 8\n#SBATCH -n 32\n#SBATCH --gres gpu:8\n"
                "srun run --nnodes $SLURM_NNODES"),
      "sbatch.nodes=4; sbatch.n=32; sbatch.gres=gpu:8; nnodes=4");
  EXPECT_EQ(of_script("#SBATCH -N 6\nrun --n $SLURM_NNODES"), "sbatch.N=6; n=6");
}

TEST(ScriptSettings, Places) {
  const auto settings =
      settings_of_script("A=(\n  --a 1\n  --b=2)\nrun \\\n  ${A[@]} --c\n", "run.sh");
  ASSERT_EQ(settings.size(), 3U);
  EXPECT_EQ(place(settings[0].where), "run.sh:2:7");
  EXPECT_EQ(place(settings[1].where), "run.sh:3:7");
  EXPECT_EQ(place(settings[2].where), "run.sh:5:11");
}

TEST(TomlSettings, TablesAndPlaces) {
  const auto settings = settings_of_toml(
      "[model]\nName = \"llama3\"\nlayers = 1_000\n[a.b]\nc-d = [\"x\", \"y\"]\ne = true\nf = {g = "
      "0.5}\n",
      "run.toml");
  std::vector<Setting> sorted = settings;
  std::ranges::sort(sorted, {}, &Setting::name);
  EXPECT_EQ(told(sorted),
            "a.b.c_d=[x, y]; a.b.e=true; a.b.f.g=0.5; model.layers=1000; model.name=llama3");
  const auto name = std::ranges::find(settings, "model.name", &Setting::name);
  EXPECT_EQ(place(name->where), "run.toml:2:8");
}

TEST(DocumentSettings, NestedMapsAndLists) {
  EXPECT_EQ(of_yaml("A-b:\n  C: 1\n  d: [x, y]\n  e:\n  - f: 2\n  - 3\nn: 500_000\nz: ~\n"),
            "a_b.C=1; a_b.d=[x, y]; a_b.e.0.f=2; a_b.e.1=3; n=500000; z=null");
  EXPECT_EQ(of_yaml("{\"a\": {\"b\": true}}"), "a.b=true");
}

TEST(DocumentSettings, ValuesThatReferToOthers) {
  EXPECT_EQ(of_yaml("m: {hidden: 8, ffn: '${multiply:4, ${.hidden}}', len: '${a.b.m.ffn}'}"),
            "m.hidden=8; m.ffn=32; m.len=32");
  EXPECT_EQ(of_yaml("x: '${TP:8}'\ny: '${oc.env:PP,2}'\nz: '${N:llama}.yaml'\nw: '${none}'"),
            "x=8; y=2; z=llama.yaml; w=${none}");
  EXPECT_EQ(of_yaml("a: '${b}'\nb: '${a}'\nc: '${divide_ceil:7,2}'\nd: '${divide_floor:7,0}'"),
            "a=${b}; b=${a}; c=4; d=${divide_floor:7,0}");
}

TEST(DocumentSettings, AFileThatRefersWithoutEndIsReadSoon) {
  std::string text = "v0: x\n";
  for (int i = 1; i < 40; ++i) {
    text += fmt::format("v{0}: '${{v{1}}}${{v{1}}}${{v{1}}}'\n", i, i - 1);
  }
  EXPECT_EQ(settings_of_document(text, "run.yaml").size(), 40U);
}

TEST(SettingNames, WordsInSmallLettersAndLettersAsTheyAre) {
  EXPECT_EQ(setting_name("--Micro-Batch-Size"), "micro_batch_size");
  EXPECT_EQ(setting_name("-N"), "N");
  EXPECT_EQ(setting_name("sbatch.N"), "sbatch.N");
}

TEST(ShellArithmetic, IsThatOfWholeNumbers) {
  EXPECT_EQ(shell_arithmetic("8 * (4 - 1)"), 24);
  EXPECT_EQ(shell_arithmetic("7 / 2 + 1"), 4);
  EXPECT_EQ(shell_arithmetic("2 - 3 - 4"), -5);
  for (const char* other :
       {"", "8 *", "(8", "8)", "GPUS", "8 / 0", "2 ** 3", "1000000000001", "1000000 * 1000001"}) {
    EXPECT_EQ(shell_arithmetic(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace windtunnel

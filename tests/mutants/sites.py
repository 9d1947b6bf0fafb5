"""Where a mutant could stand in C++ sources, and how the text of a source changes for it.

The text is not parsed: brackets are matched, comments, strings and what is no running code are
blanked out, and clang-format's spaces tell a product from a pointer. What is found here and does not
compile as a mutant is dropped when all of them are built.
"""

import random
import re

KINDS = ("sign", "factor", "bound", "negated", "constant", "extreme", "logic", "return")
LEAST_LINES = 60  # of a file: in shorter ones the kinds find no place
NAMES = {"+": "Plus", "-": "Minus", "*": "Times", "/": "Over",
         "<": "Below", "<=": "AtMost", ">": "Above", ">=": "AtLeast"}
BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def blanked(text, begin, end):
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def closing(text, opening):
    """The place of the bracket that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(text)):
        depth += BRACKETS.get(text[place], 0)
        if depth == 0:
            return place
    raise ValueError("unbalanced brackets")


def statement_end(text, begin):
    """The place of the semicolon that ends the statement, or -1."""
    depth = 0
    for place in range(begin, len(text)):
        depth += BRACKETS.get(text[place], 0)
        if depth < 0:
            return -1
        if depth == 0 and text[place] == ";":
            return place
    return -1


def code_of(text):
    """The text with blanks for comments, strings, directives, and what is no code of a running program."""
    literal = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>\w*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
        r"|(?<!\w)'(?:\\.|[^'\\\n])*'|^#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
    text = literal.sub(lambda match: re.sub(r"[^\n]", "\x01", match[0]), text)
    # Invariants and messages: a check that never fails looks the same with another bound.
    for match in list(re.finditer(r"\b(?:CHECK|static_assert|throw \w+)(?=\()", text)):
        text = blanked(text, match.start(), closing(text, match.end()) + 1)
    for match in list(re.finditer(r"\bconstexpr\b(?! \()|\btemplate <|\bcase ", text)):
        end = re.compile(r"[;{:]|\n\n").search(text, match.start())
        stop = end.end() if end else match.end()
        if end and end[0] == "{" and match[0] == "constexpr":
            stop = closing(text, end.start()) + 1
        text = blanked(text, match.start(), stop)
    return text


def logic_group(code, place):
    """Begin and end of the condition whose one kind of operator stands at `place`, or None."""
    begin = depth = 0
    for begin in range(place - 1, -1, -1):
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(code[begin], 0)
        if depth < 0 or code[begin] == ";":
            break
        if depth == 0 and code[begin:begin + 7] == "return ":
            begin += 6
            break
    end = depth = 0
    for end in range(place, len(code)):
        depth += BRACKETS.get(code[end], 0)
        if depth < 0 or (depth == 0 and code[end] == ";"):
            break
    inside = code[begin + 1:end]
    bare = inside
    while (shorter := re.sub(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}", "", bare)) != bare:
        bare = shorter
    if "\x01" in inside or re.search(r"[?,;:](?!:)(?<!::)|(?<![=!<>])=(?!=)|return", bare):
        return None
    if code[begin] not in "(n " or ("&&" in bare and "||" in bare):
        return None
    return begin + 1, end


def sites_of(text):
    """Every place of the file where a mutant could stand: kind, first and last place, edits."""
    code = code_of(text)
    space = "windtunnel_mutants::"
    for match in re.finditer(r"(?<=[\w)\]]) ([-+*/]|<=?|>=?)(?=\s+[\w(!~*&-])", code):
        if re.search(r"\b(return|case|operator|template)$", code[:match.start()]):
            continue
        sign = match[1]
        kind = "sign" if sign in "+-" else "factor" if sign in "*/" else "bound"
        yield kind, match.start(), match.end(), [
            (match.end(), 0, f" {space}{NAMES[sign]}{{@}} {sign}")]
    for match in re.finditer(r"(?<![\w.'<])([012])(?![\w.'>:])", code):
        sign = "+" if match[1] == "0" or match.start() % 2 else "-"
        yield "constant", match.start(), match.end(), [
            (match.start(), 1, f"({match[1]} {sign} {space}on(@))")]
    for match in re.finditer(r"\bstd::(min|max)(?=\()", code):
        name = "least_of" if match[1] == "min" else "greatest_of"
        yield "extreme", match.start(), match.end(), [
            (match.start(), len(match[0]), f"{space}{name}<@>")]
    for match in re.finditer(r"\bif (?=\()", code):
        end = closing(code, match.end())
        inside = code[match.end():end]
        if ";" in inside or re.search(r"(?<![=!<>])=(?!=)", inside):
            continue
        yield "negated", match.start(), end, [
            (match.end() + 1, 0, f"{space}on(@) != static_cast<bool>("), (end, 0, ")")]
    for match in re.finditer(r"&&|\|\|", code):
        group = logic_group(code, match.start())
        if group is None:
            continue
        begin, end = group
        operand = f"({space}on(@) != static_cast<bool>("
        yield "logic", begin, end, [
            (begin, 0, f"({space}on(@) != ({operand}"), (match.start(), 0, ")) "),
            (match.end(), 0, " " + operand), (end, 0, "))))")]
    for match in re.finditer(r"\breturn (?=[^;])", code):
        end = statement_end(code, match.start())
        value = code[match.end():end].strip()
        if end < 0 or value in ("{}", "0", "0.0", "nullptr", "std::nullopt"):
            continue
        if value in ("true", "false"):
            edits = [(match.end(), 0, f"{space}on(@) != ")]
        else:
            edits = [(match.start(), 0, f"{{ if ({space}on(@)) return {{}}; "), (end + 1, 0, " }")]
        yield "return", match.start(), end, edits


def drawn(texts, count, seed):
    """Draws files, a longer one more often, and in each a place of each kind; a line has one at most."""
    chance = random.Random(seed)
    texts = {path: text for path, text in texts if text.count("\n") >= LEAST_LINES}
    mutants = []
    while len(mutants) < count and texts:
        path = chance.choices(list(texts), [text.count("\n") for text in texts.values()])[0]
        text = texts.pop(path)
        sites = list(sites_of(text))
        chance.shuffle(sites)
        lines = set()
        for kind in KINDS:
            for _, begin, end, edits in (site for site in sites if site[0] == kind):
                line = text.count("\n", 0, begin) + 1
                if line in lines:
                    continue
                lines.add(line)
                mutants.append({
                    "id": len(mutants), "kind": kind, "path": path, "line": line,
                    "last": line + text.count("\n", begin, end),
                    "text": text.split("\n")[line - 1].strip(), "edits": edits})
                break
    return mutants

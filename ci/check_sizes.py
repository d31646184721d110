#!/usr/bin/env python3
"""Checks that functions and files stay small, and prints how many lines src and miniapp have.

check_sizes.py [FOLDER]      checks src and miniapp below FOLDER (default: this repository); exit 1 on a break
check_sizes.py --self-test   plants one break of each kind and sees each caught

A function's lines are those from its signature to its closing brace. A lambda counts as part of its function; one in a
table, as a function of its own. The generated JSON Schema counts nowhere.
"""

import re
import sys
import tempfile
from pathlib import Path

FUNCTION_LINES = 80
FILE_LINES = 500
MAIN_LINES = 119  # of miniapp/main.cpp
CXX = (".hpp", ".cpp", ".cu", ".cuh", ".h")

# What a compiler does not see as code, and directives: in this order at each place.
TOKEN = re.compile(
    r"""
    (?P<blank> //(?:\\\n|[^\n])* | /\*.*?\*/
      | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
  | (?P<directive> ^[ \t]*\#(?:\\\n|//[^\n]*|/\*.*?\*/|[^\n])* )
  | (?P<brace> [{}] )
  | (?P<end> ; )
  | (?P<other> \w+ | [^\w\n"'/#{};]+ | . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
LABEL = re.compile(r"^\s*(?:public|private|protected)\s*:(?!:)\s*")
TYPE = re.compile(r"^(?:typedef\s|friend\s|static\s|inline\s|constexpr\s)*(?:class|struct|union|enum)\b(?![^{]*\)\s*$)")
NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\b|^extern\s*$")
AFTER_PARAMETERS = r"(?:const|volatile|noexcept(?:\s*\([^()]*\))?|override|final|mutable|try|&&?|->[^;={}]+|requires[^;={}]+|\s)*$"
BODY = re.compile(r"\)\s*" + AFTER_PARAMETERS)
INITIALIZERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)[^?]*$")  # of a constructor's members
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:mutable|noexcept|\s)*$")
NAME = re.compile(r"(operator\s*(?:\(\)|[^\s(]+)|~?[A-Za-z_][\w:~]*(?:<[^()]*>)?)\s*\(")


def code_of(text):
    """The text with comments and literals blanked, directives whole, every line where it was."""
    return TOKEN.sub(lambda token: " " + "\n" * token[0].count("\n") if token["blank"] else token[0], text)


def without_template(head):
    """The head without its template parameters, whose `class` declares no class."""
    while match := re.match(r"\s*template\s*<", head):
        depth, at = 1, match.end()
        while depth and at < len(head):
            depth += {"<": 1, ">": -1}.get(head[at], 0)
            at += 1
        head = head[at:]
    return head.strip()


def kind_of(head, inside):
    """What the brace after this head opens: scope (of a namespace or type), body, or list (of initializers)."""
    head = without_template(LABEL.sub("", head))
    if inside == "scope" and (NAMESPACE.match(head) or TYPE.match(re.sub(r"\[\[.*?\]\]|alignas\([^()]*\)", "", head))):
        return "scope"
    if INITIALIZERS.search(head) and not re.search(r"[)}]\s*$", head):
        return "list"
    if BODY.search(head) or LAMBDA.search(head) or (INITIALIZERS.search(head) and head.endswith(("}", ")"))):
        return "body"
    return "list"


def functions(text):
    """(name, first line, last line) of each function with a body, and (None, line, line) where braces do not match."""
    stack, head, line = [], "", 1  # stack of (kind, head, first line)
    first, branches = None, []

    def in_body():
        return any(kind == "body" for kind, _, _ in stack)

    for token in TOKEN.finditer(text):
        piece = token[0]
        if token["directive"]:
            word = re.match(r"\s*#\s*(\w*)", piece)[1]
            if word.startswith("if"):
                branches.append((list(stack), head, first))
            elif word.startswith("el") and branches:
                saved, head, first = branches[-1]
                stack = list(saved)
            elif word == "endif" and branches:
                branches.pop()
        elif piece == "{":
            kind = "inner" if in_body() else kind_of(head, stack[-1][0] if stack else "scope")
            stack.append((kind, head, first or line))
            head, first = "", None
        elif piece == "}":
            if not stack:
                yield None, line, line
                return
            kind, before, began = stack.pop()
            if kind == "body":
                name = NAME.search(without_template(LABEL.sub("", before)))
                yield name[1] if name else "a lambda", began, line
            head, first = (before + "{}", began) if kind == "list" else ("", None)
        elif token["end"]:
            if not (stack and stack[-1][0] == "list"):
                head, first = "", None
        elif token["blank"]:
            head += " " if piece.startswith("/") else '""'
        elif not in_body():
            head += piece
            if LABEL.fullmatch(head):
                head, first = "", None
            elif first is None and piece.strip():
                first = line + len(piece) - len(piece.lstrip("\n"))
        line += piece.count("\n")
    if stack:
        yield None, stack[-1][2], line


def breaks(root):
    total = 0
    for file in sorted(file for top in ("src", "miniapp") for file in (root / top).rglob("*") if file.is_file()):
        path = file.relative_to(root).as_posix()
        if path.endswith(".schema.json"):
            continue
        text = file.read_text(encoding="utf-8")
        lines = text.count("\n")
        total += lines
        limit = MAIN_LINES if path == "miniapp/main.cpp" else FILE_LINES
        if lines > limit:
            yield f"{path}:{limit + 1}: the file has {lines} lines; allowed: {limit}"
        if file.suffix == ".def":
            yield f"{path}:1: is a list of macros; allowed: constexpr tables"
        if file.suffix not in CXX:
            continue
        for name, first, last in functions(text):
            if name is None:
                yield f"{path}:{first}: braces do not match"
            elif last - first + 1 > FUNCTION_LINES:
                yield f"{path}:{first}: {name} has {last - first + 1} lines; allowed: {FUNCTION_LINES}"
    yield total


def self_test():
    def body(lines):  # of a function of that many lines in all, after its first
        return "  f();\n" * (lines - 2) + "}\n"

    long, short = body(FUNCTION_LINES + 1), body(FUNCTION_LINES)
    heads = [
        "int plain(int x) {\n",
        "template <class T, class = std::vector<T>> auto templated(T x) -> decltype(x) {\n",
        "Type::Type(int x) : a_{x}, b_(x) {\n",
        "Type::Type(int x) noexcept : a_(x), b_{x} {\n",
        "bool Type::operator==(const Type& other) const noexcept {\n",
        "void f(char c = '{', const char* s = \"}\\\"{\", long n = 1'000'000) { // {\n",
        "std::vector<int> f(std::function<void(int)> done) {  g([&] { h(R\"x({ )\" {)x\"); });\n",
        "auto f = [](int x) mutable {\n",
    ]
    good = {
        **{f"src/base/edge_{i}.cpp": f"namespace a {{\n\n{head}{short}}}\n" for i, head in enumerate(heads)},
        "src/base/class.hpp": "struct A : B<int> {\n" + "  int x{1};\n" * 100 + " public:\n" + "  int f() const {\n" + short + "};\n",
        "src/base/table.cpp": "constexpr std::array rows{\n" + '  Row{"a", [](int x) { return x; }},\n' * 200 + "};\n",
        "src/base/branch.cpp": "void f() {\n#if A\n  if (x) {\n#else\n  if (y) {\n#endif\n  }\n}\n" + "int x;\n" * 100,
        "src/base/full.cpp": "int x;\n" * FILE_LINES,
        "src/base/test.schema.json": "\n" * 2000,
        "miniapp/main.cpp": "\n" * MAIN_LINES,
        "miniapp/enum.hpp": "enum class E {\n" + "  a,\n" * 100 + "};\n",
    }
    bad = {f"src/base/long_{i}.cpp": f"namespace a {{\n\n{head}{long}}}\n" for i, head in enumerate(heads)}
    lines_of = dict.fromkeys(bad, 3) | {
        "src/base/method.hpp": 2,
        "src/base/lambda.cpp": 2,
        "src/base/row.def": 1,
        "src/base/file.js": FILE_LINES + 1,
        "src/base/brace.cpp": 1,
        "src/base/brace2.cpp": 2,
        "miniapp/options.cpp": FILE_LINES + 1,
    }
    bad |= {
        "src/base/method.hpp": "struct A {\n  int f() const {\n" + long + "};\n",
        "src/base/lambda.cpp": "constexpr std::array rows{\n  Row{1, [](int x) {\n" + long + "}};\n",
        "src/base/row.def": "X(a)\n",
        "src/base/file.js": "\n" * (FILE_LINES + 1),
        "src/base/brace.cpp": "int f() {\n",
        "src/base/brace2.cpp": "\n}\n",
        "miniapp/options.cpp": "\n" * (FILE_LINES + 1),
    }
    failed = 0
    for planted, expected in ((good, []), (good | bad, sorted(f"{path}:{lines_of[path]}" for path in bad)),
                              ({"miniapp/main.cpp": "\n" * (MAIN_LINES + 1)}, [f"miniapp/main.cpp:{MAIN_LINES + 1}"])):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in planted.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(text, encoding="utf-8")
            *found, total = breaks(Path(folder))
        found = [message.split(": ")[0] for message in found]
        for place in sorted(set(expected) ^ set(found)):
            print(f"self-test: {place}: {'not caught' if place in expected else 'caught by mistake'}")
        counted = sum(text.count("\n") for path, text in planted.items() if not path.endswith(".schema.json"))
        failed += sorted(found) != expected or total != counted
    print(f"self-test: {'failed' if failed else f'all {len(bad) + 1} planted violations caught'}")
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    *found, total = breaks(root)
    print("\n".join(found) if found else "sizes: no violations")
    print(f"src and miniapp: {total} lines")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

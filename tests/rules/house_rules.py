#!/usr/bin/python3
"""Checks the sources against the house rules on includes: house_rules.py ROOT.

Four rules: a folder includes only the folders that ALLOWED grants it; a third-party header stands
in one folder; cycle, lifecycle and policies stay pure; a comment cites the contract as it stands.
"""
import pathlib
import re
import sys

# Who may include whom. Every folder may include itself; who is not named is granted nothing.
ALLOWED = {
    "sdk": [],
    "base": [],
    "spec": ["base"],
    "model": ["base", "spec"],
    "host": ["base", "spec", "model", "sdk"],
    "cycle": ["sdk", "base", "spec", "model", "host"],  # host hands on the plugins' own tables
    "lifecycle": ["sdk", "base", "spec", "model", "host"],
    "adapter.hpp": ["base", "spec", "model"],
    "run": ["adapter.hpp", "sdk", "base", "spec", "model", "host", "cycle", "lifecycle"],
    "scenario": ["adapter.hpp", "base", "spec", "model", "host", "run"],
    "simulate": ["sdk", "base", "spec", "model", "host", "cycle", "lifecycle", "run", "scenario"],
    "tools": ["adapter.hpp", "sdk", "base", "spec", "model", "host", "cycle", "lifecycle", "run",
              "scenario", "simulate"],
    "policies": ["base"],
    "plugins": ["sdk", "policies"],
    "adapters": ["adapter.hpp", "base", "spec", "model", "lifecycle", "run"],
}

# Each of these libraries is known to one folder only, whichever it is.
THIRD_PARTY = ["boost/dll", "yaml-cpp/", "valijson/", "sqlite3.h", "CLI/", "prometheus/", "slurm/", "spdlog/", "re2/", "csv.h"]

# Made by the build, per plugin: its schema.json as a string.
GENERATED = {"plugins": ["schema.hpp"]}

PURE = ["framework/cycle", "framework/lifecycle", "policies"]
IMPURE = [
    (r"#\s*include\s*<(mutex|shared_mutex|thread|condition_variable|atomic)>", "no locks or threads"),
    (r"#\s*include\s*<(iostream|fstream|cstdio|stdio\.h|filesystem|unistd\.h)>", "no input or output"),
    (r"#\s*include\s*[<\"](spdlog/|base/log)", "no log: return an explanation"),
    (r"\b\w*[cC]lock\w*(::|\.|\(\)\.|->)[nN]ow\s*\(", "no clock: `now` comes as an argument"),
    (r"#\s*include\s*<(random|ctime|time\.h)>|\brandom_device\b|\bs?rand\s*\(", "no chance but from `seed`"),
]

CONTRACT = "docs/semantics.md"  # comments cite its sections as "semantics 2.6"
SOURCES = ("framework", "policies", "plugins", "adapters")
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cc", ".cxx", ".hh", ".ipp"}


def room(path):
    """The folder that a file belongs to: (name of its row in ALLOWED, the folder itself)."""
    parts = path.parts
    if parts[0] == "framework":
        return (parts[1], "/".join(parts[:2]))
    if parts[0] in ("plugins", "adapters") and len(parts) > 2:
        return (parts[0], "/".join(parts[:2]))
    return (parts[0], parts[0])


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r'\s*#\s*include\s*([<"])([^">]+)[">]', line):
            yield number, found[1], found[2]


def ours(root, file, name):
    """The file of this tree that an include names, relative to root; None for a foreign one."""
    for base in (file.parent, root / "framework", root / "framework/sdk", root, root / "adapters"):
        if (base / name).is_file():
            path = (base / name).resolve()
            return path.relative_to(root) if path.is_relative_to(root) else None
    return None


def without_comments(text):
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.DOTALL)


def sections(root):
    """The numbers of the headings of the contract."""
    return re.findall(r"^#+ (\d[.\d]*\d|\d)\.? ", (root / CONTRACT).read_text(encoding="utf-8"), re.MULTILINE)


def check(root):
    """All offences, each as "file:line: what, and what to do"."""
    offences = []
    known = sections(root) if (root / CONTRACT).is_file() else []
    users = {library: {} for library in THIRD_PARTY}
    files = sorted(path for top in SOURCES for path in (root / top).rglob("*") if path.suffix in SUFFIXES)
    for file in files:
        path = file.relative_to(root)
        row, folder = room(path)
        text = file.read_text(encoding="utf-8")
        for line, bracket, name in includes(text):
            here = f"{path}:{line}"
            target = ours(root, file, name)
            if target is None:
                if bracket == '"' and name not in GENERATED.get(row, []):
                    offences.append(f'{here}: "{name}" is no file of ours, write a foreign header as <{name}>')
                for library in THIRD_PARTY:
                    if name.startswith(library):
                        users[library].setdefault(folder, here)
                continue
            target_row, target_folder = room(target)
            if target_folder != folder and target_row not in ALLOWED.get(row, []):
                granted = ", ".join(ALLOWED.get(row, [])) or "nothing"
                offences.append(f"{here}: {folder} may not include {target}; it may include {granted}")
        for line, code in enumerate(text.splitlines(), 1):
            offences += [f"{path}:{line}: {CONTRACT} has no section {number}, it has {', '.join(known)}"
                         for number in re.findall(r"\bsemantics (\d+(?:\.\d+)?)", code) if number not in known]
        if any(folder == pure or folder.startswith(pure + "/") for pure in PURE):
            for line, code in enumerate(without_comments(text).splitlines(), 1):
                offences += [f"{path}:{line}: {folder} is pure, {why}" for pattern, why in IMPURE
                             if re.search(pattern, code)]
    for library, folders in users.items():
        if len(folders) > 1:
            offences.append(f"<{library}...> stands in {len(folders)} folders, wrap it in one of them: "
                            + ", ".join(folders.values()))
    return offences, len(files)


def main():
    offences, files = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(offences) or f"{files} files follow the house rules")
    return 1 if offences or not files else 0


if __name__ == "__main__":
    sys.exit(main())

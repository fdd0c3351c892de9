"""Writes the documentation index of this Python as JSON: one entry a symbol, read from docstrings and signatures.

    python3 build_index.py --output index.json.gz --hints hints.tsv [--packages]

An entry is [name, signature, text, hint, weight]. `name` is the way Python programs write it; `text` the docstring;
`hint` extra words in plain English from the hints file; `weight` 0..1 says how much the standard library itself uses it.
Objects that can be reached under several names are kept under the one that is used most.
"""

import argparse
import ast
import collections
import gzip
import importlib
import importlib.metadata
import inspect
import io
import json
import math
import os
import pkgutil
import re
import sys
import types
import warnings

TEXT_LIMIT = 1400
SIGNATURE_LIMIT = 240
SKIPPED = {
    "antigravity", "this", "idlelib", "lib2to3", "test", "turtledemo", "pydoc_data", "encodings", "distutils", "ensurepip",
    "nt", "posix", "sre_compile", "sre_constants", "sre_parse", "posixpath", "ntpath", "genericpath", "macpath", "nturl2path",
    "pyexpat", "opcode", "msilib", "winreg", "winsound", "msvcrt", "asynchat", "asyncore", "smtpd", "imp", "tkinter", "turtle",
    "pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel",
}
SKIPPED_PARTS = {"tests", "test", "testing", "conftest", "__main__", "setup"}
# Packages say what is public at their top: deeper modules repeat it, or are parts of their own machinery.
PACKAGE_DEPTH = 2
PACKAGE_ENTRIES = 6000
# What a package offers at its top (numpy.concatenate) is what programs call most.
PACKAGE_TOP_WEIGHT = 0.6
SIGNATURE_LINE = re.compile(r"^[\w.]+\(.*\)(\s*->\s*.+)?(\s*--\s*.*)?$")
# Types whose methods are written on values, so that attribute names are all there is to count.
VALUE_TYPES = (str, list, dict, set)


def packages_to_read(want_packages, only):
    standard = sorted(n for n in sys.stdlib_module_names if not n.startswith("_") and n not in SKIPPED)
    if not want_packages:
        return standard, {}
    installed = {}
    for package, owners in importlib.metadata.packages_distributions().items():
        if package.isidentifier() and not package.startswith("_") and package not in SKIPPED:
            if package not in sys.stdlib_module_names:
                if not only or package in only:
                    installed[package] = importlib.metadata.version(owners[0])
    return standard, installed


def import_quietly(name):
    """The module, or None where it can't be imported here (a part for another system, a missing library)."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:
        return importlib.import_module(name)
    except BaseException as error:  # a module may raise anything, SystemExit too, when it is imported
        if isinstance(error, KeyboardInterrupt):
            raise
        return None
    finally:
        sys.stdout, sys.stderr = streams


def module_names(package, depth):
    """The package and its public modules down to a depth of names."""
    module = import_quietly(package)
    if module is None:
        return
    yield package, module
    if package.count(".") + 1 >= depth:
        return
    for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
        if info.name.startswith("_") or info.name in SKIPPED_PARTS or f"{package}.{info.name}" in SKIPPED:
            continue
        yield from module_names(f"{package}.{info.name}", depth)


def public_names(module):
    listed = getattr(module, "__all__", None)
    names = list(listed) if listed else [n for n in vars(module) if not n.startswith("_")]
    # json.loads and the like: some __all__ lists are short of what is documented.
    return sorted({n for n in names if isinstance(n, str) and not n.startswith("_")})


def is_value(thing):
    return not (inspect.isroutine(thing) or inspect.isclass(thing) or inspect.ismodule(thing))


def doc_of(thing):
    try:
        doc = inspect.cleandoc(thing.__doc__) if isinstance(thing.__doc__, str) else ""
    except Exception:
        return ""
    return doc.strip()


def split_signature(name, thing, doc):
    """(signature, docstring without its signature line)."""
    lines = doc.split("\n")
    head = lines[0].strip() if lines else ""
    spoken = ""
    last = name.rsplit(".", 1)[-1]
    count = 0
    while count < len(lines) and SIGNATURE_LINE.match(lines[count].strip()) and last in lines[count].split("(")[0]:
        count += 1
    if count:
        spoken = head.split(" -- ")[0]
        rest = [line.split(" -- ", 1)[1] for line in lines[:count] if " -- " in line]
        doc = "\n".join(rest + lines[count:]).strip()
    try:
        text = str(inspect.signature(thing)) if callable(thing) else ""
    except Exception:
        text = ""
    if text:
        text = re.sub(r"\((self|cls)(, |(?=\)))", "(", text, count=1)
        text = re.sub(r"\(\$?(self|module|type), /(, |(?=\)))", "(", text, count=1)
        text = re.sub(r" at 0x[0-9a-f]+", "", text)
        text = text.replace(repr(os.environ), "os.environ")  # cgi.parse: the environment of whoever reads is nobody's business
        if text.startswith("(/, "):
            text = "(" + text[4:]
        return (name + text)[:SIGNATURE_LIMIT], doc
    if spoken:
        return (name + "(" + spoken.split("(", 1)[1])[:SIGNATURE_LIMIT], doc
    return (name + "(...)" if callable(thing) else name), doc


class Collector:
    def __init__(self, usage, hints, installed):
        self.usage = usage
        self.installed = installed
        self.hints = hints
        self.entries = {}
        self.owner = {}

    def keep(self, name, thing, doc):
        hint = self.hints.get(name, "")
        if not doc and not hint and is_value(thing):
            return
        signature, text = split_signature(name, thing, doc)
        if len(text) > TEXT_LIMIT:
            text = text[:TEXT_LIMIT].rsplit("\n", 1)[0].rstrip() + "\n…"
        weight = self.usage.weight(name)
        if name.split(".")[0] in self.installed and name.count(".") == 1:
            weight = max(weight, PACKAGE_TOP_WEIGHT)
        self.entries[name] = [name, signature, text, hint, weight]

    def add_once(self, name, thing, doc):
        """Keeps a function or class under the name that is used most, else the shortest."""
        key = id(thing)
        old = self.owner.get(key)
        if old is not None and old[0] != name:
            if "." not in old[0]:
                return False
            better = (self.hints.get(name, "") != "", self.usage.count(name), -name.count("."), -len(name))
            known = (self.hints.get(old[0], "") != "", self.usage.count(old[0]), -old[0].count("."), -len(old[0]))
            if better <= known:
                return False
            for gone in [n for n in self.entries if n == old[0] or n.startswith(old[0] + ".")]:
                del self.entries[gone]
        self.owner[key] = (name, thing)
        self.keep(name, thing, doc)
        return True

    def add_class(self, name, cls, skip_inherited=True):
        doc = doc_of(cls)
        if not doc:
            doc = doc_of(cls.__dict__.get("__init__")) if "__init__" in cls.__dict__ else ""
        if not self.add_once(name, cls, doc):
            return
        members = dict(vars(cls))
        # Methods of private bases belong to the class that programs see.
        for base in cls.__mro__[1:-1]:
            inherited = base.__name__.startswith("_") or name in ("pathlib.Path", "datetime.datetime") or self.is_hidden(base)
            if inherited and base not in (object, tuple):
                for key, value in vars(base).items():
                    members.setdefault(key, value)
        for key in sorted(members):
            if key.startswith("_"):
                continue
            try:
                thing = inspect.getattr_static(cls, key)
                if isinstance(thing, (classmethod, staticmethod)) or type(thing).__name__ == "classmethod_descriptor":
                    thing = getattr(cls, key)
            except Exception:
                continue
            member = f"{name}.{key}"
            doc = doc_of(thing)
            if inspect.isroutine(thing):
                self.keep(member, thing, doc)
            elif isinstance(thing, property) or inspect.isdatadescriptor(thing):
                if (doc and not doc.startswith("Alias for field number")) or member in self.hints:
                    self.keep(member, thing, doc)
            elif member in self.hints:
                self.keep(member, thing, "")

    def is_hidden(self, base):
        """A base class of a package that no module in the index shows under its name."""
        home = base.__module__
        parts = home.split(".") if isinstance(home, str) else [""]
        if parts[0] not in self.installed:
            return False
        shown = (sys.modules.get(".".join(parts[:count + 1])) for count in range(PACKAGE_DEPTH))
        return not any(getattr(module, base.__name__, None) is base for module in shown)

    def add_module(self, name, module, package):
        if name != "builtins":
            doc = doc_of(module)
            self.entries[name] = [name, "", doc[:TEXT_LIMIT], self.hints.get(name, ""), self.usage.weight(name)]
        prefix = "" if name == "builtins" else name + "."
        for key in public_names(module):
            try:
                thing = getattr(module, key)
            except Exception:
                continue
            listed = key in (getattr(module, "__all__", None) or ())
            try:
                self.add_symbol(prefix + key, thing, package, listed)
            except Exception:
                # What a package defines may answer any question with an error; the standard library does not.
                if package not in self.installed:
                    raise

    def add_symbol(self, full, thing, package, listed):
        if isinstance(thing, types.ModuleType):
            return
        home = getattr(thing, "__module__", None)
        foreign = isinstance(home, str) and home.split(".")[0].lstrip("_") != package.lstrip("_")
        if foreign and not listed and full not in self.hints and home in sys.modules and home != "builtins":
            if home.split(".")[0] in sys.stdlib_module_names and not home.startswith("_"):
                return
        if inspect.isclass(thing):
            self.add_class(full, thing)
        elif inspect.isroutine(thing) or (callable(thing) and doc_of(thing) != doc_of(type(thing))):
            self.add_once(full, thing, doc_of(thing))
        elif full in self.hints:
            self.keep(full, thing, "")


class Usage:
    """How often the standard library's own sources use a name."""

    def __init__(self, folder):
        self.counts = collections.Counter()
        self.attributes = collections.Counter()
        for root, folders, files in os.walk(folder):
            folders[:] = [f for f in folders if f not in ("site-packages", "dist-packages", "__pycache__", "idlelib", "lib2to3")]
            for file in files:
                if file.endswith(".py"):
                    self.read(os.path.join(root, file))
        self.top = math.log1p(max(self.counts.values(), default=1))

    def read(self, path):
        try:
            with open(path, encoding="utf-8") as source, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source.read())
        except (SyntaxError, UnicodeDecodeError, ValueError):
            return
        names = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.counts[alias.name] += 1
                    names[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else alias.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.counts[node.module] += 1
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                self.counts[names.get(node.id, node.id)] += 1
            elif isinstance(node, ast.Attribute):
                self.attributes[node.attr] += 1
                parts = [node.attr]
                inner = node.value
                while isinstance(inner, ast.Attribute):
                    parts.append(inner.attr)
                    inner = inner.value
                if isinstance(inner, ast.Name) and inner.id in names:
                    self.counts[".".join([names[inner.id]] + parts[::-1])] += 1

    def count(self, name):
        owner, _, last = name.rpartition(".")
        for value_type in VALUE_TYPES:
            if owner == value_type.__name__:
                return self.attributes[last]
        return self.counts[name]

    def weight(self, name):
        return round(min(1.0, math.log1p(self.count(name)) / self.top), 3) if self.top else 0


def read_hints(path):
    hints = {}
    if path:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    name, _, words = line.rstrip("\n").partition("\t")
                    hints[name] = words.strip()
    return hints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--hints")
    parser.add_argument("--packages", action="store_true", help="installed packages too")
    parser.add_argument("--only", default="", help="of the installed packages these alone, with commas between")
    options = parser.parse_args()
    os.environ.clear()  # nothing of this machine gets into an index
    os.environ["MPLBACKEND"] = "Agg"
    os.environ["PYTHONWARNINGS"] = "ignore"
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(10000)
    hints = read_hints(options.hints)
    standard, installed = packages_to_read(options.packages, [name for name in options.only.split(",") if name])
    collector = Collector(Usage(os.path.dirname(os.__file__)), hints, installed)
    modules = {}
    for package in ["builtins"] + [n for n in standard if n != "builtins"] + sorted(installed):
        before = len(collector.entries)
        for name, module in module_names(package, PACKAGE_DEPTH if package in installed else 99):
            if package in installed and len(collector.entries) - before > PACKAGE_ENTRIES:
                break
            modules[name] = module
            collector.add_module("os.path" if module is os.path else name, module, package)
        if package == "os":
            collector.add_module("os.path", os.path, "posixpath")
    for name in hints:
        if name not in collector.entries:
            print(f"hint without a symbol: {name}", file=sys.stderr)
    entries = sorted(collector.entries.values())
    index = {
        "version": 1,
        "python": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "licence": "Docstrings of Python's standard library: Python Software Foundation License Version 2."
        + (" Docstrings of packages: each package's own licence." if installed else ""),
        "packages": installed,
        "modules": len(modules),
        "entries": entries,
    }
    data = json.dumps(index, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    if options.output.endswith(".gz"):
        data = gzip.compress(data, 9, mtime=0)
    temporary = f"{options.output}.{os.getpid()}.part"
    with open(temporary, "wb") as file:
        file.write(data)
    os.replace(temporary, options.output)
    print(json.dumps({"python": index["python"], "entries": len(entries), "modules": len(modules), "packages": installed, "bytes": len(data)}))


if __name__ == "__main__":
    main()

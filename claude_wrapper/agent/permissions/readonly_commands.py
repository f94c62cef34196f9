"""Programs that only show things, and with which options they do (as of 2026-11)."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """How a program is used without changing anything."""

    takes_files: bool = True
    """Words that are not options name files; they have to be readable."""
    refused: frozenset[str] = frozenset()
    """Options with which it writes or runs something, or reads what is not named."""
    pattern_first: bool = False
    """The first word is a pattern or a program text, not a file."""
    pattern_options: frozenset[str] = frozenset()
    """Options that give the pattern instead."""
    valued: frozenset[str] = frozenset()
    """Options whose next word is neither a file nor a pattern."""
    most_words: int | None = None
    """How many words that are not options it may be given."""
    words: re.Pattern[str] | None = None
    """What each such word has to look like."""
    only: frozenset[str] | None = None
    """The only arguments that it may be given."""
    fewest_arguments: int = 0
    """With less than these it does something else, such as to run what it is given as input."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN = re.compile(r"[\w:.,@^*-]+\Z", re.ASCII)
_FILES = ReadOnly()
_WORDS = ReadOnly(takes_files=False)
_NOTHING = ReadOnly(takes_files=False, only=frozenset())
_VERSION = ReadOnly(takes_files=False, only=_set("-v --version"), fewest_arguments=1)
_GREP = ReadOnly(
    pattern_first=True, pattern_options=_set("-e -f --regexp --file"), valued=_set("-e --regexp")
)
_FD = ReadOnly(
    pattern_first=True,
    refused=_set("-x --exec -X --exec-batch -L --follow -l --list-details -C --base-directory --search-path"),
)

READ_ONLY: dict[str, ReadOnly] = {
    **dict.fromkeys(
        _set(
            "b2sum base64 cat cksum cmp comm diff expand fmt fold head hexdump ls md5sum nl od pr readlink"
            " realpath rev sha1sum sha224sum sha256sum sha384sum sha512sum stat sum tac tail tsort unexpand wc"
        ),
        _FILES,
    ),
    **dict.fromkeys(
        _set(
            "arch basename dirname echo expr false groups id nproc numfmt seq sleep true type uname uptime which whoami"
        ),
        _WORDS,
    ),
    **dict.fromkeys(
        _set("python python3"), ReadOnly(takes_files=False, only=_set("--version"), fewest_arguments=1)
    ),
    "node": _VERSION,
    "cal": _WORDS,
    "cd": ReadOnly(most_words=1, words=re.compile(r"[^-]")),
    "column": ReadOnly(valued=_set("-s -o -N --separator --output-separator")),
    "cut": ReadOnly(valued=_set("-d --delimiter --output-delimiter")),
    "date": ReadOnly(
        takes_files=False,
        refused=_set("-s --set -f --file -r --reference"),
        valued=_set("-d --date"),
        words=re.compile(r"\+"),
    ),
    "df": _FILES,
    "docker": ReadOnly(takes_files=False, only=_set("ps images -a --all -q --quiet")),
    "du": _FILES,
    "egrep": _GREP,
    "fd": _FD,
    "fdfind": _FD,
    "fgrep": _GREP,
    "file": ReadOnly(
        refused=_set("-f --files-from -C --compile -m --magic-file -z -Z --uncompress --uncompress-noreport")
    ),
    "free": _WORDS,
    "grep": _GREP,
    "help": _WORDS,
    "history": _NOTHING,
    "hostname": ReadOnly(takes_files=False, only=_set("-A -I -d -f -i -s --fqdn --short")),
    "ifconfig": _NOTHING,
    "ip": ReadOnly(takes_files=False, only=_set("addr"), fewest_arguments=1),
    "jq": ReadOnly(
        pattern_first=True,
        refused=_set("-f --from-file -L --library-path --rawfile --slurpfile --run-tests"),
    ),
    "locale": _NOTHING,
    "lsof": ReadOnly(takes_files=False, refused=_set("-A -D -k -m -r"), words=_PLAIN),
    "man": ReadOnly(
        takes_files=False, words=re.compile(r"[\w.-]+\Z", re.ASCII), most_words=2, refused=_set("-")
    ),
    "netstat": ReadOnly(takes_files=False, refused=_set("-c --continuous -M -N"), most_words=0),
    "paste": ReadOnly(valued=_set("-d --delimiters")),
    "pgrep": ReadOnly(takes_files=False, refused=_set("-F --pidfile"), words=_PLAIN),
    "printf": ReadOnly(takes_files=False, refused=_set("-v")),
    "ps": ReadOnly(takes_files=False, only=_set("aux -ef -e -eww -A -f auxf axf")),
    "pwd": ReadOnly(takes_files=False, only=_set("-L -P")),
    "rg": ReadOnly(
        pattern_first=True,
        pattern_options=_set("-e -f --regexp --file --files --type-list"),
        valued=_set("-e --regexp -g --glob --iglob"),
        refused=_set("--pre --pre-glob --hostname-bin -z --search-zip -L --follow"),
    ),
    "sort": ReadOnly(
        refused=_set("-o --output -T --temporary-directory --compress-program --files0-from"),
        valued=_set("-t --field-separator"),
    ),
    "ss": ReadOnly(
        takes_files=False,
        refused=_set("-D --diag -E --events -F --filter -K --kill -N --net"),
        words=_PLAIN,
    ),
    "strings": ReadOnly(words=re.compile(r"[^@]")),
    "test": ReadOnly(refused=_set("-v -R")),
    "[": ReadOnly(refused=_set("-v -R")),
    "[[": ReadOnly(refused=_set("-v -R")),
    "tput": ReadOnly(takes_files=False, only=_set("cols lines colors")),
    "tr": _WORDS,
    "tree": ReadOnly(refused=_set("-o -R -l --output --fromfile"), valued=_set("-I -P")),
    "uniq": ReadOnly(only=_set("-c -d -D -u -i --count --repeated --unique --ignore-case")),
}

PROGRAM_TEXTS = {"jq": re.compile(r"\b(?:env|import|include|input_filename|debug|stderr)\b|\$ENV|\$__")}
"""What a program text must not hold."""

SED_DIALECTS = _set("-E -r --posix")
SED_QUIET = _set("-n --quiet --silent")
SED_PRINTS = re.compile(r"[0-9]+(?:,[0-9]+)?p(?:;[0-9]+(?:,[0-9]+)?p)*\Z", re.ASCII)
SED_REPLACES = re.compile(r"s/[^/\n]*/[^/\n]*/[gpiI0-9]*\Z", re.ASCII)

XARGS_OPTIONS = _set("-0 --null -r --no-run-if-empty -t --verbose")
XARGS_COUNTS = re.compile(r"[0-9]+\Z", re.ASCII)

FIND_TESTS = _set(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth"
    " -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -perm -user -group -uid -gid -links -inum -lname"
    " -ilname -fstype -printf"
)
FIND_FILES = _set("-newer -anewer -cnewer -samefile")
FIND_WORDS = _set(
    "-print -print0 -ls -depth -xdev -mount -empty -executable -readable -writable -true -false -not ! -a -o"
    " -and -or ( ) , -prune -quit -nouser -nogroup -daystart -P -H -noleaf"
)

_GIT_WRITES = _set(
    "-o -O --output --ext-diff --textconv --open-files-in-pager --exec --upload-pack --filters"
)
GIT_ANY_WORDS = _set(
    "blame cat-file check-ignore count-objects describe diff diff-files diff-index diff-tree for-each-ref grep"
    " log ls-files ls-tree merge-base name-rev rev-list rev-parse shortlog show show-ref status version whatchanged"
)
GIT_REFUSED = _GIT_WRITES | _set("--contents --recurse-submodules --batch-command --show-signature")
GIT_GREP_REFUSED = _set("--no-index --untracked")
GIT_ONLY: dict[str, frozenset[str]] = {
    "branch": _set("-a -r -v -vv --all --remotes --list --show-current --no-color --verbose"),
    "remote": _set("-v --verbose"),
    "tag": _set("-l --list -n"),
    "reflog": _set("-n --oneline -1 -5 -10 -20"),
}
GIT_PAIRS: dict[tuple[str, str], frozenset[str] | None] = {
    ("config", "--get"): None,
    ("stash", "list"): _set("--oneline"),
    ("stash", "show"): _set("-p --stat --patch"),
    ("worktree", "list"): _set("--porcelain -v"),
    ("remote", "get-url"): None,
}
"""First argument of a git command that makes it read-only; what may follow: None: plain words."""

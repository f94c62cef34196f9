import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_wrapper.agent.tools.shell_words import (
    exit_meaning,
    expects_no_output,
    is_harmless,
    parse,
    viewed_file,
)


@pytest.mark.feature("TOOL-05")
@pytest.mark.parametrize(
    ("command", "meaning"),
    [
        ("grep zzz a", "No matches found"),
        ("rg zzz", "No matches found"),
        ("cat a | grep zzz", "No matches found"),
        ("true; grep zzz a", "No matches found"),
        ("grep zzz a # as expected", "No matches found"),
        ("grep zzz a > out", "No matches found"),
        ("git grep zzz", "No matches found"),
        ("git -C sub grep zzz", "No matches found"),
        ("diff a b", "Files differ"),
        ("git diff --exit-code", "Files differ"),
        ("find nosuch", "Some directories were inaccessible"),
        ("test 1 = 2", "Condition is false"),
        ("[ 1 = 2 ]", "Condition is false"),
        ("grep zzz a && echo x", None),
        ("grep -q zzz a || exit 1", None),
        ("(grep zzz a)", None),
        ("! grep zzz a", None),
        ("X=1 grep zzz a", None),
        ("command grep zzz a", None),
        ("git commit -m diff", None),
        ("cmp a b", None),
        ("cat > f <<X\ngrep\nX", None),
        ("echo 'unclosed", None),
        ("", None),
    ],
)
def test_exit_code_one_is_an_answer_of_some_commands(command, meaning):
    assert exit_meaning(command, 1) == meaning
    assert exit_meaning(command, 2) is None


@pytest.mark.parametrize(
    ("command", "silent"),
    [
        ("touch q", True),
        ("mv a b && cp c d; rm e\nmkdir f", True),
        ("touch a > log", True),
        ("export X=1", True),
        ("touch a; echo", False),
        ("touch a | cat", False),
        ("X=1 touch a", False),
        ("true", False),
        ("", False),
    ],
)
def test_some_commands_say_nothing_when_all_is_well(command, silent):
    assert expects_no_output(command) is silent


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "sleep 1; cat a.txt",
        "echo hi 2>&1",
        "cat a 2>/dev/null | grep x | wc -l",
        "git status && git log --oneline -5",
        "grep -rn 'a;b' src",
        "head -5 a\ntail -5 b",
        "test -f a && echo yes || echo no",
    ],
)
def test_commands_that_only_look_are_harmless(command):
    assert is_harmless(command)


@pytest.mark.parametrize(
    "command",
    [
        "rm a",
        "ls > out",
        "ls >> out",
        "cat a &",
        "echo $(rm a)",
        "echo `rm a`",
        "cat <(rm a)",
        "echo ${x:=$(rm a)}",
        "(ls)",
        "ls | xargs rm",
        "ls; rm a",
        "ls\nrm a",
        "ls && cd /",
        "X=1 ls",
        "sudo ls",
        "./ls",
        "git diff --output=x",
        "git push",
        "git -c core.pager=x log",
        "git grep -O x",
        "rg --pre=x y",
        "rg --pre x y",
        "file -C x",
        "find . -delete",
        "sort -o a a",
        "cat <<X\nls\nX",
        "echo 'unclosed",
        "",
    ],
)
def test_anything_else_is_not(command):
    assert not is_harmless(command)


@pytest.mark.parametrize(
    ("command", "viewed"),
    [
        ("cat a.txt", ("a.txt", True)),
        ("cat 'sp ace.txt'", ("sp ace.txt", True)),
        ("head -20 a.txt", ("a.txt", False)),
        ("head -n 20 a.txt", ("a.txt", False)),
        ("tail a.txt", ("a.txt", False)),
        ("sed -n 1,5p a.txt", ("a.txt", False)),
        ("grep -n x a.txt", ("a.txt", False)),
        ("cat a.txt b.txt", None),
        ("cat -A a.txt", None),
        ("cat $F", None),
        ("cat *.txt", None),
        ("cat a.txt | head", None),
        ("cat a.txt; true", None),
        ("cat < a.txt", None),
        ("sed -i -n 1,5p a.txt", None),
        ("grep -rn x", None),
        ("less a.txt", None),
    ],
)
def test_a_plain_look_at_one_file_is_recognized(command, viewed):
    assert viewed_file(command) == viewed


@given(st.text(alphabet="ab '\"\\$`()<>|&;\n#=-", max_size=30))
def test_no_line_is_too_odd_to_be_looked_at(command):
    exit_meaning(command, 1)
    expects_no_output(command)
    viewed_file(command)
    is_harmless(command)


def test_whole_programs_are_not_looked_at():
    assert parse("echo x\n" * 5000) is None

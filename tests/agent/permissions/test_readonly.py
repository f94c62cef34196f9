import pytest

SHOWN = """
ls
ls -la | head -5
ls; pwd
ls || true
ls src 2>/dev/null
ls [ab] ?
cat a
cat a b src/f
cat *
cat src/*
head -n 5 a
tail -f a
grep -rn 'x' src
grep -e x -e y a
grep '/api/v1' a
egrep x a
rg x src
rg -n --glob '*.py' x
find .
find . -name '*.py' -type f
find . \\( -name a -o -name b \\) -print0
find src -maxdepth 1 -newer a
wc -l a
which ls
diff a b
stat a
du -sh .
df -h
cd src
cd src && ls
cd src && cat f
sort a
sort -k2 -n a
sort -t / a
cut -d/ -f1 a
cut -d / -f1 a
tr a-z A-Z < a
uniq -c < a
date
date +%s
date -u +%Y/%m/%d
date -d yesterday
echo a $HOME
printf '%s\\n' a
true
test -f a
[ -f a ]
[ -f a ] && cat a
[[ -f a && -d src ]]
if [ -f a ]; then cat a; else ls; fi
sed -n 1,5p a
sed -n '2,3p;5p' a
jq .x a
jq -r '.a | length' a
base64 a
sha256sum a
basename /x/y
sleep 1
seq 3
tree
file a
ps aux
uname -a
whoami
pwd
node --version
python3 --version
man ls
git status
git status --short
git log --oneline -5
git log -n 5 --format='%h %s'
git log main..dev -- a
git diff
git diff HEAD~1 -- src
git diff --stat
git show HEAD:a
git branch
git branch -a
git remote -v
git stash list
git tag -l
git blame a
git ls-files
git rev-parse HEAD
git grep x
git config --get user.name
git worktree list
git --no-pager log
docker ps -a
timeout 5 ls
pr a
tsort a
numfmt 1000
hostname -f
lsof -i :80
netstat -an
ss -tln
pgrep -fl x
find . | xargs
ls | xargs -0 echo x
[ 1 -eq 1 ]
FOO=1
for i in a b; do ls; done
command ls
LANG=C sort a
NO_COLOR=1 ls
"""
ASKED = """
cat /etc/hosts
cat ../x
cat ~/x
cat $HOME/x
ls /
ls ..
ls ~
ls ../*
ls {outside}
ls src/../..
cd /tmp
cd ..
cd
cd src && cat ../../x
cd src && git status
head -n 5 /etc/hosts
grep x /etc/hosts
grep -f /etc/hosts a
grep -f/etc/hosts a
grep --file=/etc/hosts a
grep -r x ..
rg --pre cat x
rg --pre=cat x
rg -z x
rg -f /etc/hosts
rg --files /etc
fd -x rm
fd --exec rm
fd --base-directory /etc x
find /etc
find . -delete
find . -exec ls {} ;
find . -fprint x
find . -name *.py
find . -newer /etc/hosts
find . -okdir ls
sort -o b a
sort -ob a
sort --output=b a
sort --out=b a
sort --compress-program=x a
sort -T /tmp a
sort *
uniq a b
uniq a
tree -o x
file -C -m x
date -s x
date 01010101
date -f /etc/hosts
date --set=x
hostname x
python3
node
python3 -
lsof -D x
ss -K
netstat -c
pgrep -F x
ls | xargs -n1 ls
ls | xargs head
[[ a -eq 1 ]]
test -v x
PATH=x ls
git grep --no-index x
git grep --no-i x
for i in a b; do ls $i; done
env
printenv
printf -v x y
sed s/a/b/ a
sed -n 'w x' a
sed -n '1e ls' a
sed -n -i 1p a
sed -i s/a/b/ a
sed -n -f x a
jq -f x a
jq env a
jq '$ENV.X' a
jq -n 'import "x" as x; .' a
awk '{{print}}' a
ps eww
base64 /etc/hosts
strings @a
man -H x
xxd a b
tee a
xargs cat
ls | xargs grep x
test -v x
git log --output=x
git log --outp=x
git diff --ext-diff
git diff --no-index a /etc/hosts
git show --textconv HEAD:a
git grep -O x
git grep --open-files-in-pager=x y
git branch x
git branch -d x
git remote add x y
git stash
git tag x
git config x y
git config --list
git fetch
git ls-remote x
git -c core.pager=x log
git -C /tmp status
git -p log
git add a
git
git commit -m x
git reflog expire
docker run x
npm test
python x.py
node x.js
make
mkdir x
kill 1
FOO=1 ls
PAGER=x git log
./ls
/bin/ls
sudo ls
env ls
nohup ls
curl x
"""


def lines(text: str) -> list[str]:
    return [line.replace("{{", "{").replace("}}", "}") for line in text.strip().split("\n")]


@pytest.mark.feature("RULE-07", "PERM-10")
@pytest.mark.parametrize("mode", ["default", "dontAsk", "plan"])
@pytest.mark.parametrize("line", lines(SHOWN))
def test_commands_that_only_show_things_run_in_every_mode(shared, line, mode):
    assert shared.bash(line, shared.policy(mode)).behavior == "allow"


@pytest.mark.feature("RULE-07")
@pytest.mark.parametrize("line", lines(ASKED))
def test_commands_that_may_do_more_or_read_elsewhere_are_asked_about(shared, line):
    assert shared.bash(line.replace("{outside}", str(shared.outside))).behavior == "ask"


@pytest.mark.feature("RULE-07")
def test_a_rule_still_comes_before_what_needs_no_approval(shared):
    assert shared.bash("ls", shared.policy(deny=["Bash(ls:*)"])).behavior == "deny"
    assert shared.bash("ls", shared.policy(ask=["Bash(ls)"])).behavior == "ask"


def test_a_read_rule_also_opens_files_to_commands(shared):
    policy = shared.policy(allow=[f"Read(/{shared.outside}/**)"])
    assert shared.bash(f"cat {shared.outside}/secret", policy).behavior == "allow"
    assert shared.bash(f"ls {shared.outside}", policy).behavior == "allow"
    assert shared.bash("cat /etc/hosts", policy).behavior == "ask"


def test_links_out_of_the_project_are_not_read_through(place):
    (place.project / "link").symlink_to(place.outside / "secret")
    (place.project / "dir").symlink_to(place.outside)
    for line in ("cat link", "cat dir/secret", "ls dir", "grep x < link", "cat dir/../secret"):
        decision = place.bash(line)
        assert decision.behavior == "ask", line
        assert decision.blocked_path.startswith(str(place.root))


def test_the_empty_line_runs(shared):
    for line in ("", "  ", "# only a comment", "\n"):
        assert shared.bash(line).behavior == "allow"

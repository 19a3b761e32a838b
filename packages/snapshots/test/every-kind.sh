#!/usr/bin/env bash
# Fills the current directory with every kind of file that a snapshot keeps. Nothing here may depend on who runs it.
set -eu
umask 022
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b

mkdir -p src/deep/er empty 'empty inside/one/two' modes names links repository sparse
printf 'text\r\nwith both ends\n' > src/line-ends.txt
printf '#!/bin/sh\necho hi\n' > src/run.sh
: > src/deep/er/nothing
head -c 300000 /dev/urandom > src/random.bin
head -c 17000000 /dev/zero > src/beyond-the-threshold.bin
printf 'a\0b\0' > src/with-nul.bin

# what git would obey if it looked at the tree
printf '* text=auto eol=crlf filter=evil\n*.bin export-ignore\n' > .gitattributes
printf '*\n!.gitignore\n' > .gitignore

for mode in 0400 0444 0600 0644 0755 0777 2644 4755 7777; do echo "$mode" > "modes/$mode"; chmod "$mode" "modes/$mode"; done
mkdir modes/sticky modes/closed && chmod 1777 modes/sticky && chmod 2500 modes/closed

touch names/$'new\nline' names/$'tab\tand "quotes"' names/'back\slash' names/' space ' names/-dash names/$'latin-\xe9' names/$'\xff\xfe'
touch names/, names/,x names/,,,  names/.git names/'GIT~1' names/git~1x names/'*' names/.gitmodules names/$'zero\u200cwidth'
printf '\xc3\xa9' > names/$'caf\u00e9'
mkdir names/.GIT names/.gitignore names/,directory names/$'\n' && touch names/.GIT/config names/,directory/, names/$'\n'/$'\r'
mkdir "names/$(printf 'l%.0s' {1..255})" && touch "names/$(printf 'l%.0s' {1..255})/$(printf 'm%.0s' {1..255})"

ln -s ../src/run.sh links/to-file
ln -s ../src links/to-directory
ln -s /nowhere/at/all links/dangling
ln -s . links/loop
ln -s $'odd\n\xff' links/odd
ln src/run.sh src/second-name.sh

git init -q repository && echo one > repository/a && git -C repository add a && git -C repository commit -qm one
git init -q repository/inner && echo two > repository/inner/b && git -C repository/inner add b && git -C repository/inner commit -qm two
git init -q . && git add .gitignore 2> /dev/null && git commit -qm outer

truncate -s 5000000 sparse/hole && printf x | dd of=sparse/hole bs=1 seek=3000000 conv=notrunc status=none

# times: before 1970, the beginning of time, to the microsecond, far ahead; of links and of directories that are not written again
touch -d '1969-12-31T23:59:58.250000Z' src/deep/er/nothing
touch -d '@0' src/with-nul.bin
touch -d '@1234567890.123456789' src/line-ends.txt
touch -d '@0.000001' src/run.sh
touch -d '2038-02-01T00:00:00.999999999Z' src/random.bin
touch -h -d '@1000000000.000009' links/dangling
touch -d '@1500000000.5' empty 'empty inside/one/two' src/deep

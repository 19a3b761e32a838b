import { areInstalled, type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, load, refusal, run, SHELLS } from './helper.js'

let workspace: TemporaryWorkspace
beforeAll(async () => {
  workspace = await temporaryWorkspace()
})
afterAll(() => workspace.remove())

// Only who runs or computes these prints PWNED.
const COMMAND = 'echo PW""NED'
const NUMBER = 'a[$(echo PW""NED >&2)]'

const WORDS = '($(echo PW""NED >&2))'
const NAME = '-v a[$(echo${IFS}PW""NED>&2)]'

type Attack = [shell: string, runsIn?: 'dash' | 'bash' | 'both', value?: string]

/** Scripts that ran the value of `${x}` when they were accepted. `$1` stands in the places of the placeholders. */
const ATTACKS: Record<string, Attack[]> = {
  'the image behind --entrypoint, which is no script': [
    ['echo ${x} | docker run -i --entrypoint sh image'],
    ['echo ${x} | docker run -i --entrypoint=/bin/bash image -s'],
    ['docker run --entrypoint sh -i -e A=b image <<E\n${x}\nE'],
    ['echo ${x} | podman run -i --entrypoint sh image -c sh'],
  ],
  'a redirection whose descriptor a variable gets, which is no command': [
    ['{fd}>/dev/null sh -c "${x};"', 'bash'],
    ['{fd}>/dev/null eval ${x}', 'bash'],
    ['echo ${x} | {fd}>/dev/null sh', 'bash'],
  ],
  'a group that a - stands before': [['echo ${x} | sg - root'], ['sg - root <<E\n${x}\nE']],
  'programs that join their words, behind other options or under other names': [
    ['adb --one-device a -t 1 shell ls ${x}'],
    ['adb exec-out cat ${x}'],
    ['adb -s a exec-out "cat ${x}"'],
    ['sem -j2 gzip ${x}'],
    ['unbuffer parallel ls ${x}'],
    ['proxychains watch ls ${x}'],
    ['echo ${x} | gosu root sh'],
  ],
  'a long option that is cut short': [
    ['script -q --comm "ls ${x}" /dev/null', 'both'],
    ['su root --sess "ls ${x}"'],
    ['env --split "sh -c ${x}"'],
    ['git rebase --exe "make ${x}" main'],
  ],
  'commands that git is told': [
    ['git init -q g; cd g; echo a >f; git add f; git grep -O"echo;${x};" a', 'both'],
    ['git grep --open-files-in-pager="less ${x}" a'],
    ['git -c pager.log="less ${x}" log'],
    ['git config filter.a.clean "sed ${x}"'],
    ['git -c uploadpack.packObjectsHook="a ${x}" upload-pack .'],
    ['git send-email --to-cmd="a ${x}" p'],
  ],
  'an option of the shell takes a word, which is no file': [
    ['bash -eo pipefail <<E\necho ${x}; ${x}\nE', 'both'],
    ['echo ${x} | bash -eo pipefail', 'both'],
    ['bash -euo pipefail -s <<E\n${x}\nE', 'both'],
    ['bash --init-file f <<E\n${x}\nE', 'both'],
    ['bash -eoo pipefail errexit <<E\n${x}\nE', 'both'],
    ['bash -ceuo pipefail "${x};"', 'both'],
    ['bash -co errexit "${x};"', 'both'],
    ['bash -O extglob +o errexit <<E\n${x}\nE', 'both'],
  ],
  'a -c that is an operand, or a script that starts a shell': [
    ['sh -s -- -c foo <<E\n${x}\nE', 'both'],
    ['sh -s foo -c foo <<E\n${x}\nE', 'both'],
    ['echo ${x} | sh -s -- -c foo', 'both'],
    ['echo ${x} | sh -c sh', 'both'],
    ['echo ${x} | sh -c "exec /bin/sh -s"', 'both'],
    ['echo ${x} | bash -c "source /dev/stdin"', 'both'],
    ['echo "${x}" | sh -c \'eval "$(cat)"\'', 'both'],
    ['echo ${x} | flock l -c "cd /; sh"', 'both'],
  ],
  'a stream under another name': [
    ['command . /dev/stdin <<E\n${x}\nE', 'both'],
    ['command -p . /dev/stdin <<E\n${x}\nE', 'dash'],
    ['builtin source /dev/stdin <<E\n${x}\nE', 'bash'],
    ['. /dev/fd/3 3<<E\n${x}\nE', 'both'],
    ['sh /dev/fd/3 3<<E\n${x}\nE', 'both'],
    ['sh /proc/self/fd/0 <<E\n${x}\nE', 'both'],
    ['cd /dev; . ./stdin <<E\n${x}\nE', 'both'],
    ['bash --rcfile <(echo "${x}") -i <&-', 'bash'],
  ],
  'an operand that is no script': [
    ['echo ${x} | flock l sh', 'both'],
    ['env -S "bash -s" <<E\n${x}\nE', 'both'],
    ['taskset 1 bash <<E\n${x}\nE'],
    ['rbash <<E\n${x}\nE', 'both'],
    ['su root <<E\n${x}\nE'],
    ['echo ${x} | su root'],
    ['runuser -u root -- sh <<E\n${x}\nE'],
    ['script -q /dev/null <<E\n${x}\nE'],
    ['sudo -s <<E\n${x}\nE'],
    ['sudo -u postgres -i <<E\n${x}\nE'],
    ['sudo su postgres <<E\n${x}\nE'],
    ['unshare -r <<E\n${x}\nE'],
    ['nsenter -t 1 -m <<E\n${x}\nE'],
    ['chroot /srv <<E\n${x}\nE'],
    ['newgrp root <<E\n${x}\nE'],
    ['sg root <<E\n${x}\nE'],
  ],
  'a program that hands its words to a shell': [
    ['env -S "bash -c" "${x};"', 'both'],
    ['echo ${x} | split --filter=sh', 'both'],
    ['sg root -c "echo ${x}"'],
    ['sg root "echo ${x}"'],
    ['watch -n1 "echo ${x}"'],
    ['watch -n 1 ls ${x}'],
    ['ssh host ls ${x}'],
    ['split --filter="${x};" f', 'both'],
    ['tar --checkpoint=1 --checkpoint-action="exec=${x}" -cf t f', 'both'],
    ['git -c alias.x="!${x};" x', 'both'],
  ],
  'a here-document that ends earlier for some': [
    ['cat <<EOF\nhello\nE\\\nOF\neval "${x}"\nEOF', 'bash'],
    ['cat <<-EOF\nhello\n\tE\\\nOF\neval "${x}"\nEOF', 'bash'],
  ],
  'what dash reads as the end of a command': [
    ['echo a&>f eval "${x}"; cat f', 'dash'],
    ['echo a &>>f eval "${x}"; cat f', 'dash'],
    ['echo a &>f sh <<E\n${x}\nE\ncat f', 'dash'],
    ['{ echo a; } &>f eval "${x}"; cat f', 'dash'],
  ],
  'a subscript with blanks': [
    ['a[ ${x} ]=1', 'bash', NUMBER],
    ['b=1 a[ ${x} ]=1', 'bash', NUMBER],
    ['>f a[ ${x} ]=1', 'bash', NUMBER],
    ['if a[ ${x} ]=1; then :; fi', 'bash', NUMBER],
    ['time -p a[ ${x} ]=1', 'bash', NUMBER],
    ['a[\n${x}\n]=1', 'bash', NUMBER],
    ['a["]" ${x} ]=1'],
    ['x=( [ ${x} ]=1 )', 'bash', NUMBER],
    ['x=(a [ ${x} ]=1)', 'bash', NUMBER],
  ],
  'arithmetic that ends later than its first ))': [
    ['((_=${x} , ")" ))'],
    ['((_=${x} + $(case a in a) echo 1;; esac) ))', 'bash', NUMBER],
    ['((echo a); echo ${x})'],
    ["((1<<2))\n: '\n2\neval ${x} # '"],
  ],
  'a reserved word in front of the command': [
    ['time -p ! eval "${x}"', 'bash'],
    ['time -p A=1 eval "${x}"', 'bash'],
    ['time -- eval "${x}"', 'bash'],
    ['[[ 1 -ne ${x} ]]', 'bash', NUMBER],
    ['[[ 1 -lt ${x} ]]', 'bash', NUMBER],
    ['[[ 1 -le ${x} ]]', 'bash', NUMBER],
    ['[[ 1 -gt ${x} ]]', 'bash', NUMBER],
    ['[[ 1 -ge ${x} ]]', 'bash', NUMBER],
    ['time -p -- [[ 1 -eq ${x} ]]', 'bash', NUMBER],
    ['coproc N [[ 1 -eq ${x} ]]; wait', 'bash', NUMBER],
  ],
  'a shell that anything may be written to': [
    ['cat <<E > >(sh)\n${x}\nE', 'bash'],
    ['tee >(sh) <<E\n${x}\nE', 'bash'],
    ['> >(sh) echo ${x}', 'bash'],
    ['exec > >(sh)\necho ${x}', 'bash'],
  ],
  'text that is run or computed later': [
    ['[ -v "$(echo "${x}")" ]', 'bash', NUMBER],
    ['env BASH_ENV=${x} bash -c true'],
    ['BASH_ENV[0]=${x}; export BASH_ENV; bash -c true'],
    ['env "PS4=${x}" bash -xc true'],
    ['for PS4 in "${x}"; do set -x; true; done', 'bash', '$(echo PW""NED >&2)'],
    ['wait -p ${x}'],
    ['wait -np ${x}'],
  ],
  'words for an array, which bash reads anew': [
    ['declare -a a=${x}', 'bash', WORDS],
    ['declare -A a=${x}', 'bash', WORDS],
    ['declare -a "a=(b ${x})"', 'bash', '$(echo PW""NED >&2)'],
    ['readonly -a a=${x}', 'bash', WORDS],
    ['a=(1); declare a=${x}', 'bash', WORDS],
    ['typeset -a a; typeset a="${x}"', 'bash', WORDS],
  ],
  'a raw value that becomes -v and a name': [
    ['[ ${x:raw} ]', 'bash', NAME],
    ['test -n ${x:raw}', 'bash', `a -o ${NAME}`],
    ['printf ${x:raw} a', 'bash', NAME],
    ['true & wait ${x:raw}', 'bash', '-n -p a[$(echo${IFS}PW""NED>&2)]'],
    ['true & wait -n ${x:raw}', 'bash', '-p a[$(echo${IFS}PW""NED>&2)]'],
    ['sh -e ${x:raw}', 'both', '-c echo${IFS}PW""NED'],
    ['sh ${x:raw} f', 'both', '-c echo${IFS}PW""NED'],
    ['timeout 5 bash a${x:raw}.sh ${x:raw} f'],
    ['sh ${x:raw} <<E\na\nE'],
  ],
  'a subscript in the name of a descriptor': [
    ['echo a {a[${x}]}>f', 'bash', NUMBER],
    ['exec {a[${x}]}<f', 'bash', NUMBER],
  ],
  'a quoted ]] ends nothing': [
    ['[[ a == "]]" || b -eq ${x} ]]', 'bash', NUMBER],
    ["[[ a == ']]' || b -eq ${x} ]]", 'bash', NUMBER],
    ['[[ a == \\]] || b -eq ${x} ]]', 'bash', NUMBER],
  ],
  'a process substitution inside a word': [
    ['a=<(true) eval ${x}', 'bash'],
    ['. -- <(echo "${x}")', 'bash'],
    ['source -- <(echo "${x}") a', 'bash'],
    ['echo "${x}" | tee f>(sh)'],
    ["cat <<E>(a)\nit's\nE\na\nE>(a)\neval ${x} # '", 'bash'],
  ],
  'a shell that a variable names': [
    ['$SHELL -c "${x};"'],
    ['"$BASH" -c "${x};"', 'bash'],
    ['${BASH:-sh} -c "${x};"', 'both'],
    ['exec ${SHELL:-sh} -ec "${x};"', 'both'],
    ['echo "${x}" | "$BASH"', 'bash'],
    ['echo "${x}" | $SUDO sh', 'both'],
    ['$SUDO sh -s <<E\n${x}\nE', 'both'],
    ['docker run --entrypoint=sh image -c "ls ${x}"'],
    ['csh -c "ls ${x}"'],
    ['bash $v -c "${x};"', 'both'],
    ['bash ${y:raw} -c "ls ${x}"'],
    ['fish -C a -c "ls ${x}"'],
  ],
  'what || in [[ ]] runs where [[ is a program': [
    ['[[ a || eval == ${x} ]]', 'dash', '$(echo PW""NED >&2)'],
    ['[[ a == b || "eval" == ${x} ]]', 'dash', '$(echo PW""NED >&2)'],
    ['[[ a || ! eval == ${x} ]]', 'dash', '$(echo PW""NED >&2)'],
    ['[[ a || ! ${x} ]]'],
    ['[[ a\neval ${x} ]]', 'dash'],
    ['[[ <<E<<F\nE\nF\neval ${x} ]]', 'dash'],
    ['[[ a\n! eval ${x} ]]', 'dash'],
    ['[[ a || /bin/sh -c ${x} ]]', 'dash', 'echo${IFS}PW""NED'],
  ],
  'a shell that a command finds': [
    ['$(which bash) -c "${x};"', 'both'],
    ['"$(command -v sh)" -ec "${x};"', 'both'],
    ['`command -v dash` -c "${x};"', 'both'],
    ['env $(command -v bash) -c "${x};"', 'both'],
    ['echo "${x}" | $(command -v sh)', 'both'],
    ['$(command -v sh) -s <<E\n${x}\nE', 'both'],
  ],
  'time as a program': [
    ['time -f %e sh <<E\n${x}\nE'],
    ['echo ${x} | time -o f sh'],
    ['time -p -o f sh <<E\n${x}\nE'],
  ],
  'the words of a command over there': [
    ['ssh host "ls ${x}" -l'],
    ['ssh -lbob host ls ${x}'],
    ['ssh -p22 -i k host -p 22 ls ${x}'],
    ['ssh -- host -p ${x}'],
    ['sshpass -p x ssh host ls ${x}'],
    ['$SUDO ssh host ls ${x}'],
    ['adb -s d shell ls ${x}'],
    ['adb shell "ls ${x}"'],
    ['parallel -j 4 grep ${x} ::: f'],
    ['parallel "grep ${x} {}" ::: f'],
    ['scp -o "ProxyCommand=echo ${x}" a b:c', 'both', '$(echo PW""NED >&2)'],
    ['scp -oProxyCommand="echo ${x}" a b:c', 'both', '$(echo PW""NED >&2)'],
    ['ssh -o "ProxyCommand echo ${x}" b', 'both', '$(echo PW""NED >&2)'],
    ['ssh -o "ProxyCommand=echo ${x}" b uptime'],
    ['sudo ssh -p 22 -o "ProxyCommand=echo ${x}" b uptime'],
  ],
  'a continued line before a pipe': [
    ['{ echo ${x}; echo b; } \\\n  | sh', 'both'],
    ['( echo ${x}; echo b ) \\\n|sh', 'both'],
    ['for i in 1; do echo ${x}; done \\\n| sh', 'both'],
    ['if true; then echo ${x}; fi \\\n| sh', 'both'],
    ['case a in a) echo ${x};; esac \\\n| sh', 'both'],
    ['echo ${x} | { cat; } \\\n| sh', 'both'],
    ['echo ${x} | while read -r l; do echo "$l"; done \\\n\\\n| sh', 'both'],
  ],
  'a continued line inside what opens something': [
    ['echo "$\\\n(( ${x} ))"', 'bash', NUMBER],
    ['echo "$\\\n{a[${x}]}"', 'bash', NUMBER],
    ['echo $\\\n{y[${x}]}', 'bash', NUMBER],
    ['echo $\\\n[ ${x} ]', 'bash', NUMBER],
    ['echo $(\\\n( ${x} ))', 'bash', NUMBER],
    ['echo $(\\\n\\\n( ${x} ))', 'bash', NUMBER],
    ['(\\\n( ${x} ))', 'bash', NUMBER],
    ['for (\\\n(i=${x};i<1;i++)); do :; done', 'bash', NUMBER],
    ['cat <<E\n$\\\n(( ${x} ))\nE', 'bash', NUMBER],
    ['cat <<E\n$(\\\n( ${x} ))\nE', 'bash', NUMBER],
    ['cat <<E\n$\\\n{a[${x}]}\nE', 'bash', NUMBER],
    ['echo "$\\\n(eval ${x})"', 'both'],
    ['cat <\\\n(eval ${x})', 'bash'],
    ['$SHE\\\nLL -c "${x};"'],
    ['$SU\\\nDO sh -c "${x};"', 'both'],
    ['${SU\\\nDO} sh -c "${x};"', 'both'],
    ['echo ${x} |\\\n& sh', 'bash'],
    ['case a in a) :;\\\n; b) ;; esac; echo ${x} | sh', 'both'],
  ],
  'a continued line behind a word that the shell knows': [
    ['time -p\\\n eval ${x}', 'bash'],
    ['time -\\\np eval ${x}', 'bash'],
    ['time -p --\\\n eval ${x}', 'bash'],
    ['for PS4 in\\\n "${x}"; do set -x; true; done', 'bash', '$(echo PW""NED >&2)'],
    ['for PS4 i\\\nn "${x}"; do set -x; true; done', 'bash', '$(echo PW""NED >&2)'],
    ['echo "$(case a in a) :;; esac\\\n; eval ${x})"', 'both'],
  ],
  'a variable that bash computes when it is set': [
    ['RANDOM=${x}; echo $((RANDOM % 6))', 'bash', NUMBER],
    ['RANDOM=1${x}', 'bash', '+a[$(echo PW""NED >&2)]'],
    ['RANDOM+=${x}', 'bash', NUMBER],
    ['OPTIND=${x}; getopts a o', 'bash', NUMBER],
    ['HISTCMD=${x}', 'bash', NUMBER],
    ['SRANDOM=${x}', 'bash', NUMBER],
    ['BASHPID+=${x}', 'bash', NUMBER],
    ['export RANDOM=${x}', 'bash', NUMBER],
    ['for SECONDS in "${x}"; do :; done', 'bash', NUMBER],
    ['for OPTIND in "${x}"; do :; done', 'bash', NUMBER],
    ['read RANDOM <<E\n${x}\nE', 'bash', NUMBER],
    ['read -r a OPTIND <<< "1 ${x}"', 'bash', NUMBER],
    ['echo 1 ${x} | read -r a RANDOM', 'bash', NUMBER],
    ['printf -v RANDOM %s ${x}', 'bash', NUMBER],
    ['printf -vOPTIND %s ${x}', 'bash', NUMBER],
    ['printf -v PS4 %s ${x}; set -x; :', 'bash', '$(echo PW""NED >&2)'],
    ['mapfile -t BASH_ENV <<E\n${x}\nE'],
    ['declare SECONDS=${x}', 'bash', NUMBER],
    ['f() { local RANDOM=$1; }; declare RANDOM=${x}', 'bash', NUMBER],
  ],
  'a script that git hands to a shell': [
    ['git -c core.pager=cat -c alias.x="!${x};" x', 'both'],
    ['git -c sequence.editor="sed ${x}" rebase -i main'],
    ['git -c difftool.t.cmd="cat ${x}" difftool'],
    ['git difftool -x "cat ${x}"'],
    ['git rebase --exec "make ${x}" main'],
    ['git rebase -i -x "make ${x}" main'],
    ['git rebase -ix "make ${x}" main'],
    ['echo ${x} | git -c alias.x="!sh" x'],
    ['git filter-branch --msg-filter cat --tree-filter "rm -f ${x}" HEAD'],
    ['git submodule foreach --quiet "git checkout ${x}"'],
    ['git clone --upload-pack="nice ${x}" host:a b'],
    ['git clone -u "nice ${x}" host:a b'],
    ['git rebase -x"make ${x}" main'],
    ['git -c "alias.${x}=!ls" x'],
    ['git -c credential.https://a.b.helper="!f ${x}" fetch'],
    ['git -c core.fsmonitor="x ${x}" status'],
    ['git -c diff.external="x ${x}" diff'],
    ['git -c core.gitproxy="x ${x}" fetch'],
    ['git -c gpg.program="x ${x}" commit -S'],
    ['git -c filter.a.clean="x ${x}" add .'],
    ['git -c filter.a.smudge="x ${x}" checkout'],
    ['git -c merge.a.driver="x ${x}" merge b'],
    ['git -c interactive.diffFilter="x ${x}" add -p'],
    ['git -c remote.a.uploadpack="x ${x}" fetch a'],
    ['git clone -c core.sshCommand="ssh -i ${x}" a:b'],
    ['git config --global alias.x "!ls ${x}"'],
    ['git config set --global core.pager "less ${x}"'],
    ['git config --add credential.helper "!f ${x}"'],
  ],
  'other programs that take a text for a shell': [
    ['tar --to-comm="x ${x}" -xf a'],
    ['tar --checkpoint=1 --checkpoint-act="exec=x ${x}" -cf t f', 'both', ';echo PW""NED'],
    ['npx -c "ls ${x}"'],
    ['npm exec -c "ls ${x}"'],
    ['npm exec --call="ls ${x}"'],
    ['npx --call "ls ${x}"'],
    ['nix-shell --run "ls ${x}"'],
    ['docker run --health-cmd "curl ${x}" image'],
    ['docker run --health-cmd="curl ${x}" image'],
  ],
  'a shell by another name': [
    ['ksh93 -c "ls ${x}"'],
    ['bash-5.2 -c "ls ${x}"'],
    ['bash.exe -c "ls ${x}"'],
    ['yash -c "ls ${x}"'],
    ['oksh -c "ls ${x}"'],
    ['fish -C "ls ${x}"'],
    ['fish --init-command="ls ${x}"'],
    ['fish -C "set a b" <<E\n${x}\nE'],
    ['python3.exe -c "print(1)" | bash-5.2.15 -s <<E\n${x}\nE'],
  ],
  'a shell behind a wrapper': [
    ['cat <<E | setarch x86_64 sh\n${x}\nE', 'both'],
    ['cat <<E | prlimit sh\n${x}\nE', 'both'],
    ['xvfb-run sh -c "ls ${x}"'],
    ['echo ${x} | bwrap --dev-bind / / sh'],
    ['lxc exec c -- sh -c "ls ${x}"'],
  ],
}

for (const [title, attacks] of Object.entries(ATTACKS)) {
  describe(`${title}: refused`, () => {
    for (const [shell, runsIn, value = COMMAND] of attacks) {
      test(JSON.stringify(shell), async ({ skip }) => {
        expect(refusal({ shell })).toMatch(
          /would become code|disagree|cannot be followed|missing|changes \$1/,
        )
        await workspace.write('f', 'text\n')
        const script = shell.replaceAll(/\$\{x(?::raw)?\}/g, '$1')
        for (const name of SHELLS.filter((each) => runsIn === 'both' || runsIn === each)) {
          const { stdout, stderr, exitCode } = await run([name, '-c', script, '--', value], {
            cwd: workspace.path,
          })
          const hasRun = (stdout + stderr).includes('PWNED')
          skip(!hasRun && exitCode === 127, `refused; a program it starts is missing here: ${stderr}`)
          expect(hasRun, `${name}: ${stdout}${stderr}`).toBe(true)
        }
      })
    }
  })
}

/** Scripts in which `$1` is another one where the placeholder stands. */
describe('refused, because another value would arrive', () => {
  for (const shell of [
    'f() { cat; } <<E\n${a}\nE\nf ${b}',
    'f() { cat; } > ${a}; f ${b}',
    'f() { cat <<E; }\n${a}\nE\nf ${b}',
    'eval "set -- z"\necho ${x}',
    "eval 'shift'; echo ${x}",
    'f (\\\n) { echo ${x}; }; f',
    'f( \\\n ) { echo ${x}; }; f',
    'function f \\\n () { echo ${x}; }; f',
  ])
    test(JSON.stringify(shell), () => expect(refusal({ shell })).toMatch(/a function|changes \$1/))
})

describe('only a newline ends a comment, and only blanks end a word', () => {
  for (const blank of ['\r', '\u2028', '\u2029', '\u00a0', '\u000b']) {
    test(JSON.stringify(blank), async () => {
      const tool = { shell: `: # it's${blank}"\nprintf "<%s>" \${x} #"` }
      for (const shell of SHELLS)
        expect(await call(tool, { x: 'a  *' }, { shell })).toMatchObject({ stdout: '<a  *>', stderr: '' })
      expect(refusal({ shell: `case a in${blank}b) echo \${x};; esac` })).toContain('missing')
      expect(refusal({ shell: `case a in a) echo \${x};; esac${blank}` })).toContain('missing')
    })
  }
})

test('a value that ${y:=…} assigns would be split where the shell does so, unless it stands in quotes', async () => {
  for (const shell of ['ls ${y:=${x}}', 'ls a${y=${x}}', 'ls ${y:="${x}"}', 'ls ${y:-${z:=${x}}}'])
    expect(refusal({ shell })).toContain('double quotes')
  for (const name of SHELLS)
    for (const shell of ['printf "<%s>" "${y:=${x}}"', 'z="${y:=${x}}"; printf "<%s>" "$z"'])
      expect((await call({ shell }, { x: 'a  *' }, { shell: name })).stdout).toBe('<a  *>')
})

test('a -- behind the script of a shell is $0, and protects nothing', () => {
  for (const command of [
    'sh -c \'ls "$1"\' -- ${x}',
    'bash -c \'git grep -e x "$1"\' -- ${x}',
    'bash -ec -- \'ls "$1"\' -- ${x}',
    'sudo sh -c \'ls "$1"\' -- ${x}',
    'find . -exec sh -c \'ls "$1"\' -- ${x} ;',
  ])
    for (const tool of [{ exec: command }, { shell: command }])
      if (tool.shell || !command.includes(';')) expect(load(tool).parameters[0]?.allow_dash).toBe(false)
  for (const command of ['sh x.sh -- ${x}', 'sh -e x.sh -- ${x}', 'grep -c -- ${x}'])
    expect(load({ exec: command }).parameters[0]?.allow_dash).toBe(true)
})

test('a -- in a list is an element like others', () => {
  expect(load({ shell: 'for f in -- ${x}; do ls "$f"; done' }).parameters[0]?.allow_dash).toBe(false)
  expect(load({ shell: 'a=(-- ${x}); ls "${a[@]}"' }).parameters[0]?.allow_dash).toBe(false)
})

describe('still accepted', () => {
  for (const shell of [
    'bash -eo pipefail x.sh <<E\n${x}\nE',
    'echo ${x} | sudo -u root grep -i a',
    'echo ${x} | flock l cat',
    "echo ${x} | su root -c 'cat > f'",
    'runuser -u root -- cat <<E\n${x}\nE',
    'echo ${x} | env -i A=1 cat',
    'unshare -r cat <<E\n${x}\nE',
    'chroot /srv cat <<E\n${x}\nE',
    'tar -tf <(gunzip -c ${x})',
    'ssh -c "${x}-ctr" host uptime',
    'ssh -p 22 host ${x}',
    'watch ${x}',
    'watch -x ls ${x}',
    'git -c user.name=${x} commit -m ${x}',
    'tar -cf ${x} f',
    'ls ${x} &>/dev/null && cat <<E &>f\n${x}\nE',
    'cat <<E\na \\\n${x}\nE',
    'a[1]=${x}; m["a b"]=1; b=([1]=x); [ -n ${x} ]',
    'f[0]=1; ls f[0] ${x}',
    'time -p grep -- ${x} f',
    'tee >(cat) <<E\n${x}\nE',
    '( (a); echo ${x})',
    'f() { cat; } 2>/dev/null; f ${x}',
    'ssh host -p ${x} uptime',
    'ssh -o ConnectTimeout=${x} -i ~/.ssh/id_${y} host uptime',
    'ssh -o ConnectTimeout=5 host ${x}',
    'parallel -j ${x} gzip ::: f ${y}',
    'git rebase "origin/${x}"',
    'git submodule foreach git checkout "origin/${x}"',
    'git config user.name "A ${x}"',
    'git commit -m "v1.2 with a filter for ${x}"',
    'sudo -s <<< ${x}',
    'sh <<< ${x}',
    'git -c http.proxy="http://${x}" -c remote.a.url="a/${x}" fetch a',
    'git log --author="a ${x}" --grep="b ${x}" -- "a.${x}"',
    'git push -u "origin-${x}" main',
    'npx eslint -f "${x}.js"',
    'docker run -c 5 image "ls ${x}"',
    'git -c core.pager=cat log "${x}..main"',
    'bash deploy.sh -c "config/${x}.yml"',
    'sh ./x.sh --command="a ${x}"',
    '"$SHELL" -c \'echo "$1"\' _ ${x}',
    'echo ${x} | $SUDO tee f',
    'time -f %e grep -- ${x} f',
    'sh x.sh ${x:raw}',
    'sh -c \'ls "$@"\' _ ${x:raw}',
    'sh "${x:raw}"',
    '[ "${x:raw}" = a ] && printf "%s\\n" ${x:raw}',
    'declare -r x; x=${y}; export y=${y}; readonly z=${y}',
    '[[ a == "]]" || -n ${x} ]]',
    '[[ a == b || -n \\\n ${x} ]]',
    '{ echo ${x}; } \\\n  | grep a',
    'echo ${x} |\\\ngrep a &&\\\n(true)',
    'x=$(\\\necho "${x} a\\\nb")',
    'for f in \\\n ${x}\\\n a; do echo $f; done',
    "awk '{ print $1, \\\n$2 }' ${x}",
    'echo ${x}\necho a | sh',
    'OPTIND=1; RANDOM=4; read -r OPTIND; echo ${x}',
    'read -r -p ${x} y; read -t ${x} -n ${n} y; read -rd ${x} y',
    'echo ${x} | docker run -i --entrypoint jq image .',
    'echo ${x} | docker run -i image cat --entrypoint',
    'git diff -U3 "${x}..main" && grep -rn "a${x}" .',
    'split --suffix-length="${x}" f',
    'git -c pager.log=false -c filter.lfs.required=true log "${x}..main"',
    'adb -s a install "${x}.apk"',
  ])
    test(JSON.stringify(shell), () => expect(load({ shell }).command[0]).toBe('sh'))
})

describe('a -- that protects nothing', () => {
  for (const command of [
    'find -- ${x} -name a',
    'sudo find -- ${x}',
    'npm run x -- ${x}',
    'cargo test -- ${x}',
    'sudo cargo test -- ${x}',
    ...'prlimit|setarch x86_64|xvfb-run|oc exec p|lxc exec c|op run|aws-vault exec p|doppler run|bwrap|firejail|tini|perf stat|bundle exec|wsl|conda run|mise exec'
      .split('|')
      .map((wrapper) => `${wrapper} -- ls ${'${x}'}`),
    ...'dotnet run|tox|nox|bazel run|nix run|turbo run x|nx run x|composer run x|stack exec x|cabal run|deno task x'
      .split('|')
      .map((runner) => `${runner} -- ${'${x}'}`),
  ]) {
    test(command, () => {
      for (const tool of [{ exec: command }, { shell: command }])
        expect(load(tool).parameters[0]?.allow_dash).toBe(false)
    })
  }
  test('npm run x -- -- ${x}: the second one does', () => {
    expect(load({ exec: 'npm run x -- -- ${x}' }).parameters[0]?.allow_dash).toBe(true)
  })
})

test('a hundred kilobytes of one word are read to the end', () => {
  for (const word of ['a=1 ', '\\'])
    expect(load({ shell: `${word.repeat(100_000 / word.length)} \${x}` }).command[0]).toBe('sh')
  expect(refusal({ exec: `ssh ${'ssh '.repeat(25_000)} \${x}` })).toContain('the value would become code')
})

test('exec: refuses one word of several that a shell joins, and takes the whole command', () => {
  for (const exec of [
    'ssh host ls ${x}',
    'timeout 5 ssh -p 22 host ls ${x}',
    'watch ls ${x}',
    'bash -co errexit "echo ${x}"',
    'bash -ceuo pipefail "echo ${x}"',
    'env BASH_ENV=a${x} bash -c true',
    'env -S "bash -c" "echo ${x}"',
    'git -c alias.x="!echo ${x}" x',
    'split --filter="echo ${x}" f',
    'gcloud compute ssh vm --command="ls ${x}"',
    'gcloud compute ssh vm --command "ls ${x}"',
    'adb exec-out cat ${x}',
    'php --run "a(${x})"',
  ])
    expect(refusal({ exec }), exec).toContain('the value would become code')
  for (const exec of [
    'ssh host ${x}',
    'ssh -i ${k} host uptime',
    'watch -x ls ${x}',
    'bash -co errexit ${x}',
    'gcloud compute ssh vm --command=${x}',
    'gcloud compute ssh vm --command ${x}',
  ])
    expect(load({ exec }).command.length, exec).toBeGreaterThan(0)
})

describe('a number that [ or test compares is read, and nothing in it is run', () => {
  const hasBusybox = areInstalled('busybox')
  const shells = [...SHELLS.map((name) => [name]), ...(hasBusybox ? [['busybox', 'sh']] : [])]
  const OPERATORS = ['-eq', '-ne', '-lt', '-le', '-gt', '-ge']
  const comparisons = OPERATORS.flatMap((operator) => [
    `[ \${x} ${operator} 5 ]`,
    `test 5 ${operator} "\${x}"`,
    `[ "\${x}" ${operator} "\${x}" -a 1 ${operator} \${x} ]`,
  ])
  const outcomes = (shell: string[], template: string, x: string) =>
    call({ shell: `if ${template}; then echo yes; else echo no; fi` }, { x }, { cwd: workspace.path, shell })

  for (const shell of shells) {
    test(shell.join(' '), async () => {
      for (const template of comparisons) {
        for (const value of [NUMBER, '$(echo PW""NED >&2)', '`echo PW""NED >&2`', 'x=$(echo PW""NED >&2)']) {
          const { stdout, stderr } = await outcomes(shell, template, value)
          expect([template, value, stdout, stderr.includes('PWNED')]).toEqual([
            template,
            value,
            'no\n',
            false,
          ])
        }
      }
      expect((await outcomes(shell, '[ ${x} -gt 5 ]', '7')).stdout).toBe('yes\n')
      expect((await outcomes(shell, '[ ${x} -gt 5 ]', '-7')).stdout).toBe('no\n')
    })
  }
  test.skipIf(!hasBusybox)('busybox is one of them', () => expect(shells).toContainEqual(['busybox', 'sh']))
})

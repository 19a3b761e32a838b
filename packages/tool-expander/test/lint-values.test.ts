import { expect, test } from 'vitest'
import { lintTool } from '../src/lint.js'
import { load } from './helper.js'

/** Rules and columns of what lint finds, without descriptions and dashes. */
function found(definition: object): string[] {
  return lintTool(load({ allow_dash: false, ...definition }))
    .filter(({ rule }) => rule !== 'no-description')
    .map(({ rule, path, column }) => `${rule} ${column ?? path}`)
}

/** Bash's own syntax is another matter. */
const foundHere = (shell: string, parameters: object[] = []): string[] =>
  found({ shell, parameters }).filter((each) => !each.startsWith('needs-bash'))

test('a variable that holds a value is named where the shell runs or computes it', () => {
  for (const [shell, column] of [
    ['x=${v}; trap "echo $x" EXIT', 20],
    ['x=${v}; echo "$x" | sh', 15],
    ['x=${v}; [[ $x -gt 3 ]]', 12],
    ['x=${v}; echo $((x + 1))', 17],
    ['x=${v}; echo "$(( 1 + $x ))"', 23],
    ['x=${v}; (( x > 1 )) && ls', 12],
    ['x=${v}; echo "${!x}"', 15],
    ['x=${v}; echo "${x@P}"', 15],
    ['f() { echo "${1@P}"; }; f ${v}', 13],
    ['read -r x <<E\n${v}\nE\necho ${x@P}', 6],
    ['x=${v}; [ $x = a ]', 11],
    ['x=${v}; [ -f $x ] && ls', 14],
    ['x=${v}; test $x -gt 3', 14],
    ['f() { [ -d $1 ]; }; f ${v}', 12],
    ['[ $(echo ${v}) = a ]', 3],
    ['test $(basename ${v}) -gt 3', 6],
    ['x=${v}; true & wait $x', 21],
    ['x=${v}; sh $x f', 12],
    ['x=${v}; sh <<< "$x"', 9],
    ['x=${v}; bash -s <<<$x', 9],
    ['x=${v}; sh <<<"$(echo "$x")"', 24],
    ['x=${v}; echo "${y:$x:1}"', 19],
    ['x=${v}; echo "${y:x:1}"', 19],
    ['x=${v}; a[$x]=1', 11],
    ['x=${v}; echo "${a[x]}"', 19],
    ['x=${v}; let "n=$x"', 16],
    ['x=${v}; printf -v "$x" %s a', 20],
    ['x=${v}; read -r "$x"', 18],
    ['x=${v}; test -v "$x"', 18],
    ['x=${v}; ssh h "${x%.txt}"; trap "ls ${x%.txt}" EXIT', 37],
    ['x=$(printf %s ${v}); echo $((x))', 30],
    ['x=${v}; y=$x; z="a$y"; echo $((z))', 32],
    ['export x=${v}; echo $((x))', 24],
    ['x=${v}; case $x in [!/]*) exit 1;; esac; echo $((x))', 50],
    ['for i in ${v} 2; do echo $((i)); done', 29],
    ["printf '%s\\n' ${v} | while read -r x; do echo $((x)); done", 50],
    ['read -r x <<E\n${v}\nE\necho $((x))', 9],
    ['read -r x <<< ${v}; echo $((x))', 29],
    ['printf -v x %s ${v}; echo $((x))', 30],
    ['f() { echo $(( $1 + 1 )); }; f ${v}', 16],
    ['f() { local n=$1; echo $((n)); }; f ${v}', 27],
    ['g() { echo $(($1)); }; f() { g "$1"; }; f ${v}', 15],
  ] as const)
    expect(foundHere(shell).at(-1), shell).toEqual(`runs-variable ${column}`)
})

test('a variable that holds a value is named where it becomes part of a program', () => {
  expect(foundHere('x=${v}; awk "{ print $x }" f')).toEqual(['value-in-program 22'])
  expect(foundHere('x=${v}; psql -c "select $x" db')).toEqual(['value-in-program 25'])
  expect(foundHere('x=${v}; printf "$x"')).toEqual(['value-in-format 17'])
  expect(foundHere(`x=\${v}; sh -c 'eval "$1"' _ "$x"`)).toEqual(['runs-variable 30'])
})

test('a value is named that is fed to a program which runs what it reads', () => {
  for (const shell of [
    'echo ${v} | lua -',
    'echo ${v} | R --no-save',
    'echo ${v} | at now',
    'echo ${v} | ed f',
    'echo ${v} | ex -s f',
    'echo ${v} | gdb -q a.out',
    'echo ${v} | crontab -',
    'echo ${v} | m4',
    'heroku run bash <<E\n${v}\nE',
    'echo ${v} | pipenv run sh',
    'echo ${v} | apptainer exec image.sif bash -s',
    'echo ${v} | distrobox enter b -- zsh',
  ])
    expect(foundHere(shell).join(), shell).toMatch(/value-in-program/)
  for (const shell of [
    'echo ${v} | grep sh',
    'echo ${v} | heroku run cat',
    'echo ${v} | tool exec sh f',
    'crontab -l | grep ${v}',
    'crontab f; echo ${v} | cat',
    'sort < ${v} | gnuplot plot.gp',
  ])
    expect(foundHere(shell).join(), shell).not.toMatch(/value-in-program/)
})

test('a value in a command for tmux, hyperfine and the like is named', () => {
  for (const shell of [
    'tmux new-session -d -s a "ls ${v}"',
    'tmux send-keys -t a "ls ${v}" Enter',
    'hyperfine -w 3 "ls ${v}"',
    'hyperfine --prepare "rm ${v}" ls',
    'concurrently -n a,b "ls ${v}" ls',
    'ls | entr -cs "ls ${v}"',
    'xterm -e "ls ${v}"',
    'heroku run -a app "ls ${v}"',
    'heroku run ls ${v}',
    'ansible all -m shell -a "ls ${v}"',
  ])
    expect(foundHere(shell), shell).toEqual([expect.stringMatching(/^value-in-program/)])
  for (const shell of [
    'tmux new -d -s "a${v}" top',
    'tmux kill-session -t "a${v}"',
    'tmux rename-window "a ${v}"',
    'hyperfine --export-json "${v}.json" ls',
    'ls | entr cat',
    'xterm -T "a ${v}"',
    'heroku logs -a "app-${v}"',
    'ansible "host-${v}" -m ping',
  ])
    expect(foundHere(shell).join(), shell).not.toMatch(/value-in-program/)
})

test('a value is named that chooses a program for tar, man and compilers', () => {
  for (const shell of [
    'tar -I ${v} -xf a',
    'man -P ${v} ls',
    'FZF_DEFAULT_COMMAND=${v} fzf',
    'RUSTC_WRAPPER=${v} cargo build',
    'CC=${v} make',
  ])
    expect(foundHere(shell).join(), shell).toMatch(/program-chosen/)
  for (const shell of ['tar -cIzstd -f ${v} a', 'tar -C ${v} -xf a', 'man 3 ${v}'])
    expect(foundHere(shell).join(), shell).not.toMatch(/program-chosen/)
})

test('a variable is not named where it is an argument, was checked, or cannot hold code', () => {
  for (const shell of [
    `x=\${v}; trap 'rm -- "$x"' EXIT; ls -- "$x" "\${x%.txt}" "\${#x}" > "$x.txt"`,
    'x=${v}; [ "$x" -gt 3 ] && [[ $x == a* ]]',
    'x=${v}; test -f "$x"; [ -d "a$x" ]; echo "${x@Q}" ${x@U}; cat <<< "$x"; y=$x',
    '[ "$(echo ${v})" = a ]; [ $(wc -l < ${v}) -gt 3 ]; [ $(echo ${v} | wc -c) -gt 1 ]; ls $(echo ${v})',
    'x=$(wc -l < ${v}); [ $x -gt 3 ]; echo "${x@P}"',
    'x=${v}; sh -s <<< "echo a"; ls $x; cp $x b; sh f "$x"; [ a ] && ls $x',
    'x=${v}; case $x in *[!0-9]*) exit 1;; esac; echo $((x + 1))',
    'x=${v}; [[ $x =~ ^[0-9]+$ ]] || exit 1; echo $((x + 1))',
    'case ${n} in *[!0-9]*) exit 1;; esac; n=${n}; echo $((n+1))',
    'case ${v} in *[!0-9]*) exit 1;; esac; x=${v}; y=$x; echo $((y + 1))',
    'x=$(wc -l < ${v}); echo $((x + 1))',
    'find ${v} -type f | while read -r x; do n=$(wc -l < "$x"); (( n > 1 )) && ls; done',
    'x=${v} env; echo $((x))',
    'declare -A m; k=${v}; ls -- "${m[$k]}"',
    'x=${v}; declare y=$x; export z="$x"',
    'f() { ls -- "$1"; }; g() { echo $(($1 + 1)); }; g 1; f ${v}',
  ])
    expect(foundHere(shell), shell).toEqual([])
  for (const parameter of [{ type: 'integer' }, { enum: ['1', '2'] }, { pattern: '\\d+' }])
    expect(foundHere('x=${v}; echo $((x + 1))', [{ name: 'v', ...parameter }])).toEqual([])
})

test('a script inside the script is read, too, for what it does with the values behind it', () => {
  for (const [template, rule] of [
    [`sh -c 'eval "$1"' _ \${v}`, 'runs-variable'],
    [`sh -c 'sh -c "ls $1"' _ \${v}`, 'runs-variable'],
    ["sh -c '$1' _ ${v}", 'program-chosen'],
    [`sh -c '"$@"' _ \${v}`, 'program-chosen'],
    ["bash -c '[[ $1 -gt 1 ]]' _ ${v}", 'runs-variable'],
    [`sh -c 'awk "{ print $1 }"' _ \${v}`, 'value-in-program'],
    [`timeout 9 sh -c 'printf "$2"' _ a \${v}`, 'value-in-format'],
  ] as const)
    for (const mode of ['exec', 'shell'])
      expect(found({ [mode]: template }), template).toEqual([`${rule} ${template.indexOf('${') + 1}`])
  for (const [shell, rule] of [
    ["bash -c 'echo $(( $1 ))' _ ${v}", 'runs-variable'],
    [`sh -c 'x=$1; eval "$x"' _ \${v}`, 'runs-variable'],
    [`sh -c 'for f in "$@"; do eval "$f"; done' _ a \${v}`, 'runs-variable'],
    [`bash -c 'eval "$0"' \${v}`, 'runs-variable'],
    [`sh -c 'f() { echo $(( $1 )); }; f "$1"' _ \${v}`, 'runs-variable'],
    [`sh -c 'sh -c "\\$1" _ "$1"' _ \${v}`, 'program-chosen'],
  ] as const)
    expect(found({ shell }), shell).toEqual([`${rule} ${shell.indexOf('${v') + 1}`])
  for (const shell of [
    `sh -c 'ls -- "$1"' _ \${v}`,
    `sh -c 'exec "$@"' _ ls \${v}`,
    `sh -c 'ls -- "$0"; exec "$@"' \${v} ls \${w}`,
    `sh -c 'grep -e "$1" -- "$2" | wc -l' _ \${v} \${w}`,
    `sh -c 'eval "$1"; ls -- "$2"' _ a \${v}`,
    `sh -c 'case $1 in *[!0-9]*) exit 1;; esac; echo $(( $1 + 1 ))' _ \${v}`,
  ])
    expect(found({ shell }), shell).toEqual([])
})

test('a value glued into a text for an interpreter is named, and one in a file name is not', () => {
  for (const template of [
    `osascript -e 'display dialog "\${v}"'`,
    'Rscript -e "print(${v})"',
    'lua -e "print(${v})"',
    'julia --eval="print(${v})"',
    'elixir -e "IO.puts ${v}"',
    'tsx -e "f(${v})"',
    'deno eval "f(${v})"',
    'pypy3 -c "print(${v})"',
    'ipython -c "print(${v})"',
    'emacs --batch --eval "(message ${v})"',
    'expect -c "send ${v}"',
    'nu -c "ls ${v}"',
    'elvish -c "ls ${v}"',
    'xonsh -c "ls ${v}"',
    'nodemon --exec "node ${v}"',
    'gdb -batch -ex "print ${v}" a',
    'mongosh --eval "db.${v}.find()"',
    'cmd /c "dir ${v}"',
    'powershell -Command "ls ${v}"',
    'autossh -M 0 host "ls ${v}"',
    'plink host ls ${v}',
    'rsh host ls ${v}',
    'pssh -h hosts "ls ${v}"',
    'pdsh -w host "ls ${v}"',
    'fly ssh console -C "ls ${v}"',
    'fzf --preview "cat ${v}"',
    'socat - "SYSTEM:cat ${v}"',
    'psql -At -c "select ${v}" db',
    'mysql -e "select ${v}" db',
    'sqlite3 -csv db "select ${v}"',
    'gawk "{ print ${v} }" f',
    'mawk -v a=b "{ print ${v} }" f',
    'sed -e s/a/b/ -e "s/${v}/b/" f',
    'jq --arg a b ".${v}" f',
    'dc -e "${v} p"',
  ])
    for (const mode of ['exec', 'shell'])
      expect(found({ [mode]: template }), template).toEqual([
        `value-in-program ${template.indexOf('${') + 1}`,
      ])
  for (const template of [
    'node "dist/my ${v}.js"',
    'awk -f x.awk "/a b/${v}"',
    'sed -e s/a/b/ "/a b/${v}"',
    'jq --arg a "x ${v}" .[$a] "/a b/${v}"',
    'mysql --defaults-file="/a b/${v}" -e "select 1"',
    'psql "host=h dbname=${v}" -c "select 1"',
    'psql -v name=${v} -f x.sql',
  ])
    expect(found({ shell: template }), template).toEqual([])
  const shell = 'awk "{ print ${v} }" f'
  for (const parameter of [{ type: 'integer' }, { enum: ['a'] }, { pattern: '[a-z]+' }])
    expect(found({ shell, parameters: [{ name: 'v', ...parameter }] })).toEqual([])
  expect(found({ shell, parameters: [{ name: 'v', pattern: '.+' }] })).toEqual(['value-in-program 14'])
})

test('a value in a program that is read with -f - is named', () => {
  for (const shell of ['sed -f - x <<E\ns/${v}/b/\nE', 'make -f - all <<E\nall: ${v}\nE'])
    expect(found({ shell }), shell).toEqual([expect.stringMatching(/^value-in-program/)])
  expect(found({ shell: 'sed -f x.sed - <<E\n${v}\nE' })).toEqual([])
})

test('what find and xargs put into a script is named', () => {
  for (const [shell, column] of [
    ['find . -exec sh -c "ls {}" \\;', 1],
    ['ls | xargs -I{} sh -c "ls {}"', 6],
    ['ls | xargs -0 -I % sh -c "ls %"', 6],
  ] as const)
    expect(found({ shell }), shell).toEqual([`value-in-program ${column}`])
  for (const shell of [
    `find . -exec sh -c 'ls -- "$1"' _ {} \\;`,
    'ls | xargs -I{} ls {}',
    'ls | xargs sh -c "echo {}"',
  ])
    expect(found({ shell }), shell).toEqual([])
})

test('an argument that the program itself would run is named', () => {
  for (const [template, column] of [
    ["perl -pe 's/a/b/' ${v}", 19],
    ["perl -lane 'print' -- ${v}", 23],
    ['make ${v}', 6],
    ['make -- ${v}', 9],
    ['make V=${v} all', 8],
    ['strace -o ${v} ls', 11],
    ['vim +${v} a', 6],
    ['vim -c ${v} a', 8],
    ['vim ${v}', 5],
    ['sqlite3 db ${v}', 12],
    ['psql -c ${v}', 9],
  ] as const)
    for (const mode of ['exec', 'shell'])
      expect(found({ [mode]: template }), template).toEqual([`runs-argument ${column}`])
  for (const exec of [
    'perl -Mopen x.pl ${v}',
    'make -C ${v} all',
    'strace -o ./${v} ls',
    'vim -- ${v}',
    'sqlite3 ${v} .tables',
  ])
    expect(found({ exec }), exec).toEqual([])
  expect(found({ shell: "perl -e 'print while <>' ${v}" })).toEqual(['runs-argument 26'])
  expect(found({ shell: "perl -e 'print while <<>>' ${v}" })).toEqual([])
  expect(found({ exec: 'make ${v}', parameters: [{ name: 'v', pattern: '[\\w.-]+' }] })).toEqual([])
})

test('a value in a variable by which programs are found and loaded is named', () => {
  for (const variable of ['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'PERL5OPT', 'ENV'])
    for (const mode of ['exec', 'shell'])
      expect(found({ [mode]: `env ${variable}=\${v} ls` }), variable).toEqual([
        `program-chosen ${variable.length + 6}`,
      ])
  expect(found({ shell: 'export PATH="$HOME/${v}:$PATH"' })).toEqual(['program-chosen 20'])
  expect(found({ shell: 'APP_PATH=${v} ls' })).toEqual([])
})

test('a value that is a format, or part of one, is named', () => {
  for (const [shell, column] of [
    ['printf ${v}', 8],
    ['printf -- "a ${v}\\n"', 14],
    ['command printf ${v}', 16],
  ] as const)
    expect(found({ shell }), shell).toEqual([`value-in-format ${column}`])
  expect(found({ exec: 'printf ${v}' })).toEqual(['value-in-format 8'])
  expect(found({ shell: "printf '%s\\n' ${v}" })).toEqual([])
})

test('a default written in the template is named when nothing sets that variable', () => {
  expect(found({ shell: 'cat -- "${file:-README.md}"' })).toEqual(['never-set 9'])
  for (const shell of [
    'file=a; cat -- "${file:-b}"',
    'read -r file; cat -- "${file:-b}"',
    'cat -- "${file:=b}" "$file" "${other:-}" "${https_proxy:-b}"',
    'cat -- "${HOME:-b}" "${1:-b}"',
  ])
    expect(
      found({ shell }).filter((each) => !each.startsWith('positional')),
      shell,
    ).toEqual([])
})

test('a variable in lower case that nothing sets is named: a parameter was meant', () => {
  expect(found({ shell: 'cat -- "$file" | wc -l' })).toEqual(['never-set 9'])
  expect(found({ shell: 'grep -c -e $pattern -- $file' })).toEqual(['never-set 12', 'never-set 24'])
  for (const shell of [
    'file=a; cat -- "$file"',
    'while read -r line; do echo "$line"; done',
    'for f in *; do ls -- "$f"; done',
    '. ./settings.sh; ls -- "$site"',
    'ls "$HOME" "$http_proxy" "${site-}"',
    "awk '{ print $name }'",
  ])
    expect(found({ shell }), shell).toEqual([])
})

test('a parameter as other frameworks write it is named, with the way it is written here', () => {
  for (const [template, column] of [
    ['cat -- {file}', 8],
    ['cat -- {{file}}', 8],
    ['cat -- {{ file }}', 8],
    ['ls --color={when}', 12],
  ] as const)
    for (const mode of ['exec', 'shell'])
      expect(found({ [mode]: template }), template).toEqual([`foreign-placeholder ${column}`])
  for (const exec of [
    'ls "{file}"',
    'xargs -I{file} ls {file}',
    'git show HEAD@{upstream}',
    'git rev-parse HEAD^{tree}',
    'curl -w %{http_code} https://a.b',
    'docker ps --format {{.Names}}',
    'find . -exec ls {} +',
    'jq {name} a.json',
    'ls -- ${file}',
  ])
    expect(found({ exec, allow_dash: false }), exec).toEqual([])
})

test('a hand-written command that joins the values behind it to a script is named', () => {
  const parameters = [{ name: 'v', allow_dash: false }]
  expect(found({ command: ['ssh', 'host', 'ls'], parameters })).toEqual(['value-in-program command'])
  expect(found({ command: ['bash', '-c', 'ls -- "$1"', '--'], parameters })).toEqual([])
})

import { describe, expect, test } from 'vitest'
import { argvOf, bind, call, load, refusal } from './helper.js'

const parameters = [
  { name: 'n', type: 'integer' },
  { name: 'verb', enum: ['start', 'stop'] },
]
const WHERE_CODE_STANDS: [shell: string, output: string, shells: string][] = [
  ['echo $((${n} * 60)) "$((60-${n}))" $((1${n}0))', '-300 65 error', 'none'],
  ['echo $((${n} * 60)) "$((60 -${n}))"', '-300 65', 'dash bash'],
  ['cat <<E\n$((${n} + 1))\nE', '-4', 'dash bash'],
  ['if [[ 1 -gt ${n} ]]; then echo yes; fi', 'yes', 'bash'],
  ['a=(1 2 3 4 5 6); echo ${a[${n}+6]} "${a[6+${n}]}" $[ ${n} ]', '2 2 -5', 'bash'],
  ['for ((i=${n};i<-3;i++)); do echo $i; done; (( ${n} < 0 )) && echo yes', '-5\n-4\nyes', 'bash'],
  ['a[${n}+6]=x; echo ${a[1]}; y=abcdefg; echo ${y:${n}:1} "${y:${n}:1}"', 'x\nc c', 'bash'],
  ['RANDOM=${n}; echo ok', 'ok', 'dash bash'],
  ['sh -c "echo ${n} ${verb}"; sh -c \'echo ${n}\'', '-5 stop\n-5', 'dash bash'],
  ['eval echo ${n}; echo "echo ${n} ${verb}" | sh', '-5\n-5 stop', 'dash bash'],
  ['trap "echo ${verb}" EXIT', 'stop', 'dash bash'],
]

describe('whole numbers and plain words of an enum are never code, and go where code stands', () => {
  for (const [shell, output, shells] of WHERE_CODE_STANDS) {
    test(JSON.stringify(shell), async () => {
      const used = parameters.filter(({ name }) => shell.includes(`{${name}}`))
      expect(refusal({ shell })).toContain('would become code')
      const args = { n: -5, ...(used.length > 1 ? { verb: 'stop' } : {}) }
      const sent = Object.fromEntries(used.map(({ name }) => [name, name === 'n' ? args.n : 'stop']))
      for (const name of shells === 'none' ? [] : shells.split(' ')) {
        const result = await call({ shell, parameters: used }, sent, { shell: name })
        expect(result, name).toMatchObject({ stdout: `${output}\n`, stderr: '' })
      }
    })
  }

  test('in exec: too', () => {
    const exec = 'ssh host systemctl ${verb} -n ${n}'
    expect(argvOf({ exec, parameters }, { verb: 'stop', n: 5 })).toEqual(
      'ssh host systemctl stop -n 5'.split(' '),
    )
    expect(load({ exec: 'sh -c "head -n ${n} f"', parameters: parameters.slice(0, 1) }).command[0]).toBe('sh')
  })

  test('in command:, and the full form is the same tool when it is loaded again', () => {
    const tool = load({
      command: ['sh', '-c', 'head -n ${n} f'],
      substitute: true,
      parameters: parameters.slice(0, 1),
    })
    expect(load(tool)).toEqual(tool)
    const expanded = load({ shell: 'echo $((${n} * 60))', parameters: parameters.slice(0, 1) })
    expect(load(expanded)).toEqual(expanded)
  })
})

test('another value is refused at the call', () => {
  for (const n of ['1; id', 'a[$(id)]', '1+1', '0x1', '1\n', ' 1', '', 1.5])
    expect(bind({ shell: 'echo $((${n}))', parameters: parameters.slice(0, 1) }, { n }).ok, String(n)).toBe(
      false,
    )
})

test('other types, other words, and places that quotes change are refused as before', () => {
  for (const parameter of [
    { type: 'string' },
    { type: 'number' },
    { enum: ['a', '$(id)'] },
    { pattern: '\\d+' },
  ])
    for (const tool of [{ shell: 'echo $((${n}))' }, { shell: 'eval ${n}' }, { exec: 'ssh host ls ${n}' }])
      expect(refusal({ ...tool, parameters: [{ name: 'n', ...parameter }] })).toContain('would become code')
  for (const shell of [
    "echo `awk '{print ${n}}'`",
    "echo ${a['${n}']}",
    'echo ${a["${n}"]}',
    'cat <<${n}\n1\n${n}',
  ])
    expect(refusal({ shell, parameters: parameters.slice(0, 1) })).toMatch(
      /would become code|cannot be followed/,
    )
  expect(refusal({ shell: 'f() { echo $((${n})); }; f', parameters: parameters.slice(0, 1) })).toContain(
    'a function, which has its own $1',
  )
})

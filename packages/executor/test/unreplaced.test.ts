import { expect, test } from 'vitest'
import { findUnreplaced } from '../src/internal.js'

const VARIABLES = ['AGENT_HOME', 'CWD']

function found(...words: string[]): string[] {
  return findUnreplaced(words, VARIABLES).map(
    ({ index, column, message, name }) => `${index}:${column} ${message}${name ? ` (${name})` : ''}`,
  )
}

test('variables that are replaced are not found, nor is what means nothing to a shell', () => {
  expect(found('${AGENT_HOME}/a', '--in=${CWD}', 'a~', '$', '$5', '${x:-y}', '{a}', 'US$')).toEqual([])
})

test('what only a shell would replace is found with its place', () => {
  expect(found('ls', '~/a', 'in ${x} of $HOME')).toEqual([
    '1:1 "~" is not replaced here',
    '2:4 "${x}" is not replaced here, but passed as it is written (x)',
    '2:12 "$HOME" is not replaced here, but passed as it is written',
  ])
})

test('behind an interpreter only what is nearly a variable is found', () => {
  expect(found('env', '/bin/bash', '-c', 'echo ${HOME} ~ $CWD ${cwd} ${AGENTHOME}')).toEqual([
    '3:28 "${AGENTHOME}" is not replaced here',
  ])
})

test('a path in the script of a shell is found: with a blank in it, it would be two words', () => {
  const message = 'the path of "${CWD}" is read as a part of the script'
  expect(found('/bin/bash', '-ec', 'ls "${CWD}/a" ${AGENT_HOME}')).toEqual([
    `2:5 ${message}`,
    `2:15 ${message.replace('CWD', 'AGENT_HOME')}`,
  ])
  expect(found('env', 'A=1', 'sh', '-c', 'cd ${CWD}')).toEqual([`4:4 ${message}`])
  expect(found('sh', '-c', 'ls "$1" $CWD ${HOME}', 'sh', '${CWD}/a')).toEqual([])
  expect(found('sh', '${AGENT_HOME}/a.sh', '-c', '${CWD}')).toEqual([])
})

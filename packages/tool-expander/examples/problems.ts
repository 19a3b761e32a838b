import { formatProblem, safeParseTool } from '@delta/tool-expander'

const parsed = safeParseTool({ name: 'count_lines', exec: 'cat ${file} | wc -l' })

for (const problem of parsed.ok ? [] : parsed.problems) {
  console.log(formatProblem(problem, 'agent.yaml:14:18: tools[2] "count_lines"'))
}

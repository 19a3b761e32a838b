import { bindArguments, expandTool, formatProblem, parseTool, toFunctionTool } from '@delta/tool-expander'

const parsed = parseTool({
  name: 'count_matches',
  description: 'Count the lines of a file that match a pattern.',
  shell: 'grep -- ${pattern} ${file} | wc -l',
})
if (!parsed.ok) throw new Error(parsed.problems.map((problem) => formatProblem(problem)).join('\n'))

const tool = expandTool(parsed.tool)
console.log(JSON.stringify(toFunctionTool(tool).function.parameters.required)) // what the model is told
console.log(
  bindArguments(
    tool,
    { pattern: '"; rm -rf ~; "', file: 'a.txt' },
    { variables: { AGENT_HOME: '/agent', CWD: '/work' } },
  ),
)

/** The agents that `delta init` can make; each is a directory of `templates/`. */
export const TEMPLATE_NAMES = [
  'minimal',
  'hello-world',
  'file-ops',
  'api-tester',
  'code-reviewer',
  'research',
] as const

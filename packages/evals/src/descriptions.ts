/** Descriptions of the keys of `eval.yaml`, for editors and for the reference: `[]` is an element of a list, `<name>` any name. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  name: 'Name of the evaluation; <name>.eval is its directory. Default: the name of the directory of eval.yaml',
  tasks:
    'What is to be solved: directories of task directories, JSONL files with a task a line, and tasks written here.',
  'tasks[].id': 'Name of the task. With fork and a glob, the beginning of the names.',
  'tasks[].instruction':
    'What the agent is told. With fork, the word that follows; without it the run just goes on.',
  'tasks[].workspace': 'The directory that the agent gets a copy of. Default: an empty one',
  'tasks[].tests': 'A directory that only the scorer gets.',
  'tasks[].solution': 'A directory with the solve.sh that the oracle runs.',
  'tasks[].fork':
    'A past run from which the cell goes on: id, directory, or a glob of directories, each a task.',
  'tasks[].at': 'With fork, the iteration after which it goes on; 0: only its task and first files.',
  'tasks[].limits': 'Limits of each cell of this task, if lower than those of the evaluation.',
  'tasks[].metadata': 'Of your own; the scorer finds it in $TASK/metadata.json.',
  variants: 'What is compared, by name.',
  'variants.<name>.agent':
    'The directory of an agent; oracle: runs the solution, and must score 1; nop: does nothing, and must score 0. Default: the agent of the run that the task forks',
  'variants.<name>.model': 'Sets llm.model.',
  'variants.<name>.set':
    'Further values, by path, as --set of delta run has them; ${seed} is the seed of the cell. context: a file that stands in for context.yaml.',
  matrix:
    'Variants as a cross product: of each axis one partial variant, names joined by +. What a later axis says wins.',
  'matrix.<name>.<name>.agent': 'As in variants.',
  'matrix.<name>.<name>.model': 'As in variants.',
  'matrix.<name>.<name>.set': 'As in variants.',
  exclude: 'Variants of the matrix that are left out.',
  baseline: 'The variant that the others are compared with. Default: the first',
  repeats: 'How often each variant tries each task. Default: 1',
  seed: 'Of the order of the tasks, and of DELTA_SEED of each cell, which is the same for all variants. Default: 1',
  concurrency: 'Runs at once in each worker. Default: 16',
  limits: 'What each cell may spend. A lower limit of its task or agent wins. Default: no limit',
  ...below('limits', {
    wall_time: 'How long the agent works, as 90s, 30m or 4h. Waiting for a busy server does not count.',
    tokens: 'Tokens of all its requests.',
    cost: 'US dollars. Each model needs a price.',
  }),
  ...below('tasks[].limits', { wall_time: 'As in limits.', tokens: 'As in limits.', cost: 'As in limits.' }),
  provider_wait:
    'How long a cell waits for a busy provider before it counts as unscored-infra: sets llm.retry.max_wait. Default: that of the agent',
  setup:
    'A shell command in the fresh workspace, before the agent begins. If it fails, the cell is unscored-infra.',
  score: 'How good the work is: one scorer, or several by name, of which the first gives the score.',
  ...below('score', {
    take: 'Patterns of the files of the agent that the scorer gets; the others are those of the template. Default: the whole workspace',
    files: 'Files beside eval.yaml that the command needs; it finds them in $INPUTS.',
    command:
      'Runs in a copy of the workspace, with tests/ laid over it: a text for the shell, or a list of a program and its arguments.',
    result:
      'Where the score is: the exit code; the last line of stdout; or of the file $SCORE_FILE: a number, or JSON with score and metrics. Default: exit',
    pass: 'Exit codes that score 1. Default: [0]',
    fail: 'Exit codes that score 0; any other is a fault of the scorer. Default: [1]',
    equals: 'Instead of command: the text that the answer must be.',
    'equals.tests': 'A file in tests/ with this text.',
    matches: 'Instead of command: a regular expression to find in the answer.',
    file: 'With equals or matches: a file of the workspace in place of the answer.',
    timeout: 'How long the command may run. Default: 10m',
    on_timeout: '0: a timeout scores 0. Default: infra, a fault of the scorer',
  }),
  ...below(
    'score.<name>',
    Object.fromEntries(
      [
        ...[
          'take',
          'files',
          'command',
          'result',
          'pass',
          'fail',
          'equals',
          'equals.tests',
          'matches',
          'file',
        ],
        ...['timeout', 'on_timeout'],
      ].map((key) => [key, 'As of a single scorer.']),
    ),
  ),
  sandbox: 'Only none: cells have the rights of the user. Default: none',
  keep: 'Workspaces that stay after scoring: always all, failed: those below 1, never: none. Scoring again needs them. Default: always',
}

function below(place: string, texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [`${place}.${key}`, text]))
}

/** Follows the list of commands in `delta --help`. */
export const COMMON_TASKS = `
Common tasks:
  delta init hi && delta run --agent hi -w . -m "What is here?"
      a first run, without a key
  delta show -w ./workspace --follow
      watch a run from another terminal
  Ctrl+C, then delta continue -w ./workspace
      stop a run cleanly, and resume it; also after a crash
  delta continue -w ./workspace -m "…"
      answer its question, extend a finished run, retry a failed one
  delta show -w ./workspace --request 7
      what the model saw at step 7, byte for byte
  delta run … -q | wc -w
      stdout is the answer and nothing else
Each command has a --help of its own: delta run --help

For programs:
  delta --agent   describes every command as JSON (ATIP 0.6)`

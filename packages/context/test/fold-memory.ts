/** The pattern for long conversations: the script as it has been handed around. */
export const FOLD_MEMORY = `#!/bin/bash
JOURNAL=$JOURNAL_PATH
CUTOFF=$(($(wc -l < $JOURNAL) - 20))  # Skip last 20 iterations

echo "## Memory Summary (Iterations 1-\${CUTOFF})"
echo ""
echo "### Actions Taken:"
grep ACTION_RESULT $JOURNAL | head -n $CUTOFF | \\
  jq -r '.tool_name' | sort | uniq -c

echo ""
echo "### Key Decisions:"
grep THOUGHT $JOURNAL | head -n $CUTOFF | \\
  jq -r '.content' | grep -i 'decided\\|chose\\|will' | head -10
`

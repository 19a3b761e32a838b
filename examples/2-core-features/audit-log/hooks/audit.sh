# The last ACTION_REQUEST in the journal holds the command; TOOL_RESULT is what the model reads of it.
grep '"type":"ACTION_REQUEST"' "$JOURNAL_PATH" | tail -n 1 |
  jq -c --arg result "$TOOL_RESULT" '{time: .timestamp, tool: .tool_name, command: .resolved_command, $result}' >> audit.jsonl

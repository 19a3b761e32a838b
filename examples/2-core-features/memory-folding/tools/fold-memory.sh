# Folds a run into the facts that must survive: how far we are, and what was found.
observations() {
  jq -r 'select(.type == "ACTION_RESULT") | .observation_content' "$JOURNAL_PATH"
}

echo "Last page read: $(observations | grep -o '^Page [0-9]* of 100' | tail -n 1)"
echo "Findings:"
observations | grep 'treasure' || echo "none yet"

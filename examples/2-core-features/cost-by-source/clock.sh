# Which request this is, as a clock would tell the time.
echo "This is request $(($(grep -c '"type":"THOUGHT"' "$JOURNAL_PATH") + 1))."

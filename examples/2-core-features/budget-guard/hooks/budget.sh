# Adds up the tokens of this run's requests: what the provider counted or, where it counts nothing, the engine's estimate.
budget=${BUDGET_TOKENS:-1000}
spent=$(cat "$RUN_DIR"/io/invocations/*.json 2>/dev/null |
  jq -s '[.[] | .usage.total_tokens // ([.blocks[].tokens] | add)] | add // 0')

if [ "$spent" -ge "$budget" ]; then
  printf '{"action":"stop","reason":"%s of %s tokens are spent"}' "$spent" "$budget" \
    > "$DELTA_HOOK_IO_PATH/output/control.json"
fi

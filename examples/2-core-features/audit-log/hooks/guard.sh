# payload.dat is {"tool_name", "tool_args", "argv"}: exactly what would run. Should this script itself fail, the call is
# refused as well.
if jq -e '[.tool_args[] | tostring] | any(startswith("config/"))' "$DELTA_HOOK_IO_PATH/input/payload.dat" > /dev/null; then
  echo '{"action":"skip","observation":"Files in config/ are not for you. Ask for the change instead."}' \
    > "$DELTA_HOOK_IO_PATH/output/control.json"
fi

# Ends the run where git shows no change: no repository, no commit yet, or nothing changed since the last one.
git diff --quiet --relative HEAD 2> /dev/null
[ $? -eq 1 ] && exit # 1: there is a change; 0: there is none; more: git cannot tell
echo '{"action":"stop","reason":"nothing to review: git diff HEAD shows no change here"}' > "$DELTA_HOOK_IO_PATH/output/control.json"

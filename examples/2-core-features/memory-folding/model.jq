# A model is a command: a request comes in on stdin, a message goes out. This one knows only what is in the request.
(.messages | map(.content // "" | tostring) | join("\n")) as $seen
| ([$seen | scan("Page ([0-9]+) of 100")[0] | tonumber] | max // 0) as $page
| if $page < 100 then
    {
      role: "assistant",
      content: "I go on with page \($page + 1).",
      tool_calls: [{ id: "page_\($page + 1)", type: "function",
                     function: { name: "read_page", arguments: ({ number: ($page + 1) } | tojson) } }]
    }
  else
    { role: "assistant", content: ([$seen | scan("the treasure lies [^.]*\\.")] | first // "I do not remember.") }
  end

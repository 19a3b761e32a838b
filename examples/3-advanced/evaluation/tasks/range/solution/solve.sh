cat > code.mjs <<'END'
export function range(first, last) {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}
END

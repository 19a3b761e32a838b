cat > code.mjs <<'END'
export function titleCase(text) {
  return text.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}
END

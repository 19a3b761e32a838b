cat > code.mjs <<'END'
export function slug(title) {
  return title.toLowerCase().trim().replaceAll(/ +/g, '-')
}
END

/** The sign of a fork: fonts often lack the character. */
export function ForkSign() {
  return (
    <svg class="fork-sign" width="9" height="11" viewBox="0 0 9 11" role="img" aria-label="fork">
      <path
        d="M4.5 10.5V6M4.5 6C4.5 4 1.5 4 1.5 1M4.5 6C4.5 4 7.5 4 7.5 1"
        fill="none"
        stroke="currentColor"
      />
    </svg>
  )
}

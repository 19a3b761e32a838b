export function price(amount, discount) {
  return amount * (1 - discount)
}

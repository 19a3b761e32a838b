import { price } from './price.js'
export const total = (items) => items.reduce((sum, { amount }) => sum + price(amount, 0.2), 0)

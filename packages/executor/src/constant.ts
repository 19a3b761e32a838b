/** A value that is only read: one that was written with `as const` is taken, too. */
export type Constant<Type> = Type extends object
  ? { readonly [Key in keyof Type]: Constant<Type[Key]> }
  : Type
